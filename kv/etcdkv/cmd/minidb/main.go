// Command minidb is minidb with the engine on etcd, beside the one on Pebble.
package main

import (
	"github.com/minidb/minidb/cmd/minidb/cli"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/etcdkv"
)

func main() { cli.Main(engines) }

var engines = kv.Openers{"etcd": etcdkv.OpenURL}
