// Command minidb serves, inspects and measures a minidb database. Its stores are directories, on
// Pebble; kv/etcdkv/cmd/minidb is the same command for stores on etcd too, and kv/tikvkv/cmd/minidb
// for stores on TiKV.
package main

import "github.com/minidb/minidb/cmd/minidb/cli"

func main() { cli.Main(nil) }
