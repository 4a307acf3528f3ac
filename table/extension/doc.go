// Package extension lists what CREATE EXTENSION can add to a database.
//
// What an extension consists of is a part of the program, as the built-in functions and types are;
// CREATE EXTENSION gives it names in one database, in a schema. So each function, operator, type
// and cast of an extension has one object ID, the same in every database that has the extension,
// from the extension's own range between PostgreSQL's built-in objects and those of users:
//
//	14000 … 14199  citext        14200 … 14599  hstore     14600 … 14799  pg_trgm
//	14800 … 14899  pgcrypto      14900 … 14919  unaccent   14920 … 14999  uuid-ossp
//	15000 … 15699  btree_gist
//
// The members themselves are elsewhere: types in table/types, functions and operators in
// planner/builtin, the rows of the catalogs in sql/pgcatalog. The database's record of which
// extensions it has is table/catalog's.
//
// A text that the catalog stores (a default, a check, a view) names a member by its StoredSchema,
// which is no schema: its meaning then depends neither on the search path, nor on the schema that
// the extension is moved to, nor on that schema's name. A reader of stored texts needs no catalog
// to find the member, since nothing that needs an extension outlives it.
package extension
