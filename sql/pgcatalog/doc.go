// Package pgcatalog is pg_catalog and information_schema as tables: descriptors without storage
// whose rows are made from the schema when they are read.
//
// It owns the columns and rows of these tables, and the texts that functions such as
// pg_get_indexdef give. It holds what PostgreSQL 15 would say of a database like ours: tables that
// would be empty here (pg_trigger, pg_policy, …) are there and are empty, so that clients which
// join them work; columns carry PostgreSQL's names, types and order as far as clients read them.
//
// A table is one entry of catalogs.sql or activity.sql, with its columns, and a function that emits
// rows, of which only the columns that are read are kept. Rows that are the same in every database,
// such as those that describe these tables, are made once. Views that PostgreSQL defines by SQL are
// SQL here too, over these tables: views.sql and information_schema.sql. The planner expands them
// like a user's views. tables.go parses the four files and lists the functions.
package pgcatalog
