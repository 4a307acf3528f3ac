// Package crash kills a real server with SIGKILL while clients move money, starts it again, and
// proves that no acknowledged commit is lost and that no transaction is half visible.
package crash
