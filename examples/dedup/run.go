package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/minidb/minidb"
)

type options struct {
	dir, level              string
	writers, kills, perLife int
}

// ledger remembers what was acknowledged.
type ledger struct {
	mu   sync.Mutex
	docs map[string]document
	more *sync.Cond
}

func newLedger() *ledger {
	l := &ledger{docs: map[string]document{}}
	l.more = sync.NewCond(&l.mu)
	return l
}

func (l *ledger) add(d document) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.docs[d.url] = d
	l.more.Broadcast()
}

func (l *ledger) wake() { l.more.Broadcast() }

// await returns when n documents are acknowledged or stop returns true.
func (l *ledger) await(n int, stop func() bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.docs) < n && !stop() {
		l.more.Wait()
	}
}

func (l *ledger) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.docs)
}

func pause(ctx context.Context) error {
	t := time.NewTimer(20 * time.Millisecond)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// run kills the server again and again while writers write, then proves the store.
func run(ctx context.Context, o options) error {
	if o.dir == "" {
		dir, err := os.MkdirTemp("", "dedup")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.dir = dir
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	addr := l.Addr().String()
	l.Close()
	acked := newLedger()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	context.AfterFunc(ctx, acked.wake)

	var wg sync.WaitGroup
	url := "postgres://dedup@" + addr + "/postgres?sslmode=disable"
	for w := range o.writers - o.writers/2 {
		wg.Go(func() {
			if err := writer(ctx, url, fmt.Sprintf("wire%d", w), acked.add); err != nil {
				cancel(err)
			}
		})
	}
	for life := 0; life <= o.kills && ctx.Err() == nil; life++ {
		child, err := startChild(ctx, o, addr, life, acked)
		if err != nil {
			return err
		}
		target := acked.size() + o.perLife
		acked.await(target, func() bool { return ctx.Err() != nil })
		_ = child.kill()
		if life < o.kills {
			fmt.Printf("killed %d of %d, %d documents acknowledged\n", life+1, o.kills,
				acked.size())
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	cancel(nil)
	wg.Wait()
	if err := context.Cause(ctx); err != nil && err != context.Canceled {
		return err
	}
	return prove(context.Background(), o.dir, acked.docs)
}

type childProcess struct {
	cmd  *exec.Cmd
	read chan struct{}
}

// kill ends the process with SIGKILL and waits until all that it had acknowledged is in the ledger.
func (c *childProcess) kill() error {
	err := c.cmd.Process.Kill()
	<-c.read
	_ = c.cmd.Wait()
	return err
}

func startChild(ctx context.Context, o options, addr string, life int,
	acked *ledger) (*childProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-child", addr, "-data", o.dir, "-isolation", o.level,
		"-writers", strconv.Itoa(o.writers/2), "-first", strconv.Itoa(life*1_000_000))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &childProcess{cmd: cmd, read: make(chan struct{})}
	go func() {
		defer close(c.read)
		for sc := bufio.NewScanner(out); sc.Scan(); {
			if rest, ok := strings.CutPrefix(sc.Text(), "ack "); ok {
				url, body, _ := strings.Cut(rest, " ")
				sum := sha256.Sum256([]byte(body))
				acked.add(document{url: url, body: body, hash: sum[:]})
			}
		}
	}()
	return c, nil
}

// prove opens the directory and checks what the example promises.
func prove(ctx context.Context, dir string, acked map[string]document) error {
	db, err := minidb.Open(dir)
	if err != nil {
		return err
	}
	defer db.Close()
	var twice, orphans, docs, distinct int
	for _, q := range []struct {
		sql  string
		into *int
	}{
		{"SELECT count(*) FROM (SELECT hash FROM canonical GROUP BY hash HAVING count(*) > 1) AS x",
			&twice},
		{`SELECT count(*) FROM documents AS d LEFT JOIN canonical AS c ON c.hash = d.hash
		  WHERE c.url IS NULL OR NOT EXISTS (
		    SELECT 1 FROM documents AS o WHERE o.url = c.url AND o.hash = d.hash)`, &orphans},
		{"SELECT count(*) FROM documents", &docs},
		{"SELECT count(DISTINCT hash) FROM documents", &distinct},
	} {
		if err := db.QueryRow(ctx, q.sql).Scan(q.into); err != nil {
			return fmt.Errorf("%s: %w", q.sql, err)
		}
	}
	missing := 0
	for _, d := range acked {
		var body string
		err := db.QueryRow(ctx, "SELECT body FROM documents WHERE url = $1 AND hash = $2", d.url,
			d.hash).Scan(&body)
		if err != nil || body != d.body {
			missing++
		}
	}
	problems, err := db.Check(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("%d documents with %d contents stored, %d acknowledged\n", docs, distinct,
		len(acked))
	fmt.Printf("contents with two canonical URLs:        %d\n", twice)
	fmt.Printf("documents without their canonical entry: %d\n", orphans)
	fmt.Printf("acknowledged documents missing:          %d\n", missing)
	fmt.Printf("problems found by check:                 %d\n", len(problems))
	for _, p := range problems {
		fmt.Println("  ", p)
	}
	if twice+orphans+missing+len(problems) > 0 {
		return fmt.Errorf("the store is wrong")
	}
	return nil
}
