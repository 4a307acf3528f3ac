// Command minidb is minidb with the engine on TiKV, beside the one on Pebble. It is experimental.
package main

import (
	"github.com/minidb/minidb/cmd/minidb/cli"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/tikvkv"
)

func main() { cli.Main(kv.Openers{"tikv": tikvkv.OpenURL}) }
