// Package pgcrypto has the algorithms of PostgreSQL's extension pgcrypto: hashes of passwords in
// the formats of crypt(3), ciphers over whole values, and ASCII armor. The functions of SQL are in
// package builtin.
//
// What takes long calls step with the work that it has done, in bytes, and ends with its error. It
// keeps the formats of old systems for the values that applications have stored; of these only
// bcrypt ("bf") is fit for new passwords.
package pgcrypto
