// Package minidb is a small NewSQL database inside a Go program: PostgreSQL's SQL over Percolator's
// transactions over Pebble.
//
//	db, err := minidb.Open("data")              // or minidb.Open("", minidb.InMemory())
//	_, err = db.Exec(ctx, "INSERT INTO t VALUES ($1, $2)", 1, "one")
//	rows, err := db.Query(ctx, "SELECT id, name FROM t WHERE id < $1", 10)
//	for rows.Next() { err = rows.Scan(&id, &name) }
//	tx, err := db.Begin(ctx)
//	go db.Serve(listener)                       // psql looks in while the program runs
//
// It wires engine, oracle, transactions, catalog and sessions together; each of these is a package
// below. It owns the handle, the conversion between Go values and SQL values, and the driver
// "minidb" of database/sql, whose data source name is the directory.
//
// A statement outside of a [Tx] is a transaction of its own, which is repeated when it meets a
// conflict before anything of it was returned. A [Tx] that fails with SQLSTATE 40001 is repeated by
// its caller. What SQL refuses is an [*Error], with its SQLSTATE and what it is about.
//
// A [DB] may be used from many goroutines; a [Tx], a [Rows] and a [Row] by one at a time.
package minidb
