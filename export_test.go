package minidb

import "github.com/minidb/minidb/kv/pebblekv"

// OnEngine lets a test change how the engine is opened.
func OnEngine(f func(*pebblekv.Options)) Option { return func(o *options) { o.engine = f } }
