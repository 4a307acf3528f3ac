package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/kv"
)

func copyStore(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	from := fs.String("from", "", "what is copied: a directory, which no server may have open, "+
		"pebble:DIR, or a store that several processes share, as etcd://HOST:2379,HOST:2379/PATH, "+
		"on which servers may go on")
	to := fs.String("to", "", "an empty place, of any kind that --from takes")
	anew := fs.Bool("anew", false, "empty a --to that has an unfinished copy, and begin from the "+
		"start")
	hold := fs.Duration("hold", time.Hour, "for how long --from keeps the state that is copied "+
		"when the copy is interrupted, so that it can go on")
	var store storeOptions
	store.oracleFlags(fs)
	if err := c.parseFlags(fs, args); err != nil {
		return err
	}
	switch {
	case *from == "" || *to == "":
		return usageError("--from and --to are missing, or one of them")
	case *hold <= 0:
		return usageError("--hold must be positive")
	}
	if kv.IsURL(*from) {
		store.url = *from // whose oracle the other flags are about
	}
	if err := store.check(); err != nil {
		return err
	}
	opts, err := store.options()
	if err != nil {
		return err
	}
	p := &copyProgress{began: time.Now()}
	copied, err := minidb.Copy(ctx, *from, *to, minidb.CopyOptions{Anew: *anew, Hold: *hold,
		Progress: p.show, Differs: func(line string) { fmt.Println(line) }},
		append(opts, minidb.Logger(quiet()))...)
	switch {
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return fmt.Errorf("interrupted: the same command goes on where it was, within %s", *hold)
	case err != nil:
		return advisedOfScheme(err)
	}
	fmt.Printf("copied as of %s (%d): %d keys, %d bytes in %d cells; both stores are the same\n"+
		"SHA-256 of all keys and values: %s\n", copied.At.Format(time.RFC3339Nano),
		copied.Timestamp, copied.Keys, copied.Bytes, copied.Cells, copied.Digest)
	return nil
}

// copyProgress prints how far a copy or a backup is: at most a line each two seconds, and one at
// the end of each phase.
type copyProgress struct {
	began, shown time.Time
	phase        string
	since        int64 // bytes of the phase that were done when this run came to it
}

const progressPause = 2 * time.Second

func (p *copyProgress) show(phase string, cells, bytes int64, share float64) {
	now := time.Now()
	if phase != p.phase {
		p.phase, p.began, p.since = phase, now, bytes
	}
	if share != 1 && now.Sub(p.shown) < progressPause {
		return
	}
	p.shown = now
	line := fmt.Sprintf("%s: %.1f MB", phase, float64(bytes)/1e6)
	if cells >= 0 {
		line += fmt.Sprintf(" in %d cells", cells)
	}
	if share >= 0 {
		line = fmt.Sprintf("%s, %.0f %%", line, 100*share)
	}
	if seconds := now.Sub(p.began).Seconds(); seconds > 0 && bytes > p.since {
		line = fmt.Sprintf("%s, %.1f MB/s", line, float64(bytes-p.since)/1e6/seconds)
	}
	fmt.Fprintln(os.Stderr, line)
}
