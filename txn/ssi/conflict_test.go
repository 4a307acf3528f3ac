package ssi

import (
	"fmt"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// stage runs transactions step by step; each step has a timestamp of its own.
type stage struct {
	t     *testing.T
	g     Graph
	clock tso.Timestamp
}

func (s *stage) begin(o Options) *Node {
	n := s.g.Begin(o)
	s.clock++
	n.Started(s.clock)
	return n
}

func (s *stage) commit(n *Node) error {
	if err := n.Prepare(); err != nil {
		n.Aborted()
		return err
	}
	s.clock++
	n.Committed(s.clock)
	return nil
}

// reads and writes are steps that must succeed.
func (s *stage) reads(n *Node, keys ...string) {
	s.t.Helper()
	for _, k := range keys {
		require.NoError(s.t, n.ReadKey([]byte(k)))
	}
}

func (s *stage) writes(n *Node, keys ...string) {
	s.t.Helper()
	for _, k := range keys {
		require.NoError(s.t, n.Write([]byte(k)))
	}
}

func (s *stage) wantRefused(err error, reason string) {
	s.t.Helper()
	var e *Error
	require.ErrorAs(s.t, err, &e)
	require.Equal(s.t, reason, e.Reason)
	require.NotZero(s.t, e.StartTS)
}

// TestANextVersionOnly: a transaction that replaces a version which the reader never saw has no
// edge from it. t3 would else be a pivot between t1, whose x was replaced by t2 already, and t4.
func TestANextVersionOnly(t *testing.T) {
	for _, seen := range []bool{true, false} {
		s := &stage{t: t}
		t1, t2 := s.begin(Options{}), s.begin(Options{})
		s.reads(t1, "x")
		var t3 *Node
		if !seen {
			t3 = s.begin(Options{})
		}
		s.writes(t2, "x")
		require.NoError(t, s.commit(t2))
		if seen {
			t3 = s.begin(Options{})
		}
		s.writes(t3, "x") // in life it waits for t2 and fails unless it has seen it
		s.reads(t3, "y")
		t4 := s.begin(Options{})
		s.reads(t4, "z")
		s.writes(t4, "y")
		require.NoError(t, s.commit(t4))
		if !seen {
			s.wantRefused(s.commit(t3), "Canceled on identification as a pivot, during commit "+
				"attempt.")
			continue
		}
		require.NoError(t, s.commit(t3))
		// Only when t1 overwrites what t4 has read is there a cycle: t1, t2, t3, t4.
		s.wantRefused(t1.Write([]byte("z")), "Canceled on identification as a pivot, during write.")
	}
}

// TestOnlyAKnownCommitStandsBetween: t2 writes x beside t1, which reads it, and yet it is t1's
// version that t3 replaces: t1's snapshot shows t2, whose commit was under way, or t2 has perhaps
// failed. So t3 is a pivot between t1 and t4.
func TestOnlyAKnownCommitStandsBetween(t *testing.T) {
	for name, play := range map[string]func(s *stage) (t1 *Node){
		"seen by the reader": func(s *stage) *Node {
			t2 := s.begin(Options{})
			s.writes(t2, "x")
			require.NoError(t, t2.Prepare())
			s.clock++
			at := s.clock
			t1 := s.begin(Options{})
			s.reads(t1, "x")
			t2.Committed(at)
			return t1
		},
		"of unknown fate": func(s *stage) *Node {
			t1, t2 := s.begin(Options{}), s.begin(Options{})
			s.reads(t1, "x")
			s.writes(t2, "x")
			require.NoError(t, t2.Prepare())
			t2.Committed(0)
			return t1
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &stage{t: t}
			t1 := play(s)
			t3 := s.begin(Options{})
			s.writes(t3, "x")
			s.reads(t3, "y")
			t4 := s.begin(Options{})
			s.writes(t4, "y")
			require.NoError(t, s.commit(t4))
			s.wantRefused(s.commit(t3), "Canceled on identification as a pivot, during commit "+
				"attempt.")
			require.NoError(t, s.commit(t1))
		})
	}
}

// TestReasons is every way to be refused, with PostgreSQL's reason code.
func TestReasons(t *testing.T) {
	for name, play := range map[string]func(s *stage){
		"pivot, during write": func(s *stage) {
			a, b := s.begin(Options{}), s.begin(Options{})
			s.reads(a, "x", "y")
			s.reads(b, "x", "y")
			s.writes(a, "x")
			require.NoError(s.t, s.commit(a))
			s.wantRefused(b.Write([]byte("y")), "Canceled on identification as a pivot, during "+
				"write.")
			s.wantRefused(s.commit(b), "Canceled on identification as a pivot, during commit "+
				"attempt.")
		},
		"pivot, during commit attempt": func(s *stage) {
			a, b := s.begin(Options{}), s.begin(Options{})
			s.reads(a, "x", "y")
			s.reads(b, "x", "y")
			s.writes(a, "x")
			s.writes(b, "y")
			require.NoError(s.t, s.commit(a))
			s.wantRefused(s.commit(b), "Canceled on identification as a pivot, during commit "+
				"attempt.")
		},
		"pivot, noticed at a read": func(s *stage) {
			a, b := s.begin(Options{}), s.begin(Options{})
			s.reads(a, "x", "y")
			s.reads(b, "x", "y")
			s.writes(a, "x")
			s.writes(b, "y")
			require.NoError(s.t, s.commit(a))
			s.wantRefused(b.Read(kv.Span{Start: []byte("p"), End: []byte("q")}),
				"Canceled on identification as a pivot, during conflict out checking.")
			s.wantRefused(b.ReadKey([]byte("p")), "Canceled on identification as a pivot, during "+
				"conflict out checking.")
			b.Aborted()
		},
		"pivot, noticed at a write": func(s *stage) {
			a, b := s.begin(Options{}), s.begin(Options{})
			s.reads(a, "x", "y")
			s.reads(b, "x", "y")
			s.writes(a, "x")
			s.writes(b, "y")
			require.NoError(s.t, s.commit(a))
			s.wantRefused(b.Write([]byte("p")), "Canceled on identification as a pivot, during "+
				"conflict in checking.")
			b.Aborted()
		},
		"the pivot has committed": func(s *stage) {
			in, pivot, out := s.begin(Options{}), s.begin(Options{}), s.begin(Options{})
			s.reads(pivot, "x")
			s.writes(out, "x")
			require.NoError(s.t, s.commit(out))
			s.writes(pivot, "y")
			require.NoError(s.t, s.commit(pivot))
			s.wantRefused(in.ReadKey([]byte("y")),
				fmt.Sprintf("Canceled on conflict out to pivot %d, during read.",
					uint64(pivot.startTS)))
			in.Aborted()
		},
		"the pivot is committing": func(s *stage) {
			in, pivot, out := s.begin(Options{}), s.begin(Options{}), s.begin(Options{})
			s.reads(pivot, "x")
			s.writes(pivot, "y")
			s.reads(in, "y")
			require.NoError(s.t, pivot.Prepare())
			s.writes(out, "x")
			s.wantRefused(s.commit(out), "Canceled on commit attempt with conflict in from "+
				"prepared pivot.")
			s.clock++
			pivot.Committed(s.clock)
			require.NoError(s.t, s.commit(in))
		},
		"an old pivot": func(s *stage) {
			in, pivot, out := s.begin(Options{}), s.begin(Options{}), s.begin(Options{})
			s.reads(pivot, "x")
			s.writes(out, "x")
			require.NoError(s.t, s.commit(out))
			s.writes(pivot, "y")
			require.NoError(s.t, s.commit(pivot))
			s.foldAll()
			s.wantRefused(in.ReadKey([]byte("y")), "Canceled on conflict out to old pivot.")
			in.Aborted()
		},
		"a pivot towards an old one": func(s *stage) {
			in, pivot, out := s.begin(Options{}), s.begin(Options{}), s.begin(Options{})
			s.writes(out, "x")
			require.NoError(s.t, s.commit(out))
			s.reads(in, "y")
			s.writes(pivot, "y")
			s.foldAll()
			s.wantRefused(pivot.ReadKey([]byte("x")),
				"Canceled on identification as a pivot, with conflict out to old committed "+
					"transaction.")
			pivot.Aborted()
			require.NoError(s.t, s.commit(in))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &stage{t: t}
			play(s)
			active, committed := s.g.Size()
			require.Zero(t, active)
			require.Zero(t, committed)
		})
	}
}

func (s *stage) foldAll() {
	for len(s.g.committed) > 0 {
		s.g.fold(s.g.committed[0])
		s.g.committed = s.g.committed[1:]
	}
}

// TestOverwriting: a transaction that writes a key again which a concurrent one has removed comes
// after it.
func TestOverwriting(t *testing.T) {
	for _, over := range []bool{false, true} {
		s := &stage{t: t}
		a, b := s.begin(Options{}), s.begin(Options{})
		s.reads(a, "x")
		s.writes(b, "x", "k")
		require.NoError(t, s.commit(b))
		if !over {
			s.writes(a, "k")
			require.NoError(t, s.commit(a))
			continue
		}
		s.wantRefused(a.Overwrite([]byte("k")), "Canceled on identification as a pivot, during "+
			"write.")
	}
}

// TestAReaderThatOverlapsTheFirst: a transaction declared READ ONLY comes before all that it has
// not seen, as long as none of these would have to follow one that committed before its snapshot.
func TestAReaderThatOverlapsTheFirst(t *testing.T) {
	s := &stage{t: t}
	reader := s.begin(Options{ReadOnly: true})
	pivot, out := s.begin(Options{}), s.begin(Options{})
	s.reads(pivot, "x")
	s.writes(out, "x")
	require.NoError(t, s.commit(out))
	s.writes(pivot, "y")
	require.NoError(t, s.commit(pivot))
	s.reads(reader, "x", "y") // before both
	require.NoError(t, s.commit(reader))
}

// TestSafeSnapshots goes through the ways in which a snapshot turns out safe, or not.
func TestSafeSnapshots(t *testing.T) {
	readOnly := Options{ReadOnly: true, Deferrable: true, Owner: 9}
	decided := func(n *Node) bool {
		select {
		case <-n.Decided():
			return true
		default:
			return false
		}
	}
	t.Run("alone", func(t *testing.T) {
		s := &stage{t: t}
		other := s.begin(Options{ReadOnly: true})
		r := s.begin(readOnly)
		require.True(t, decided(r) && r.Safe() && other.Safe())
		require.Empty(t, s.g.Waits())
		active, _ := s.g.Size()
		require.Zero(t, active, "who is safe is not remembered")
	})
	t.Run("a writer that ends without an edge", func(t *testing.T) {
		s := &stage{t: t}
		w, x := s.begin(Options{Owner: 4}), s.begin(Options{Owner: 5})
		r := s.begin(readOnly)
		require.False(t, decided(r))
		require.Equal(t, []Wait{{Owner: 9, Blockers: []int64{4, 5}}}, s.g.Waits())
		s.writes(w, "k")
		require.NoError(t, s.commit(w))
		require.False(t, decided(r))
		x.Aborted()
		require.True(t, decided(r) && r.Safe())
		require.NoError(t, s.commit(r))
	})
	t.Run("a writer that read what was overwritten before the snapshot", func(t *testing.T) {
		s := &stage{t: t}
		w, out := s.begin(Options{}), s.begin(Options{})
		s.reads(w, "x")
		s.writes(out, "x")
		require.NoError(t, s.commit(out))
		r := s.begin(readOnly)
		s.writes(w, "y")
		require.NoError(t, s.commit(w))
		require.True(t, decided(r))
		require.False(t, r.Safe())
		s.wantRefused(r.ReadKey([]byte("y")), fmt.Sprintf("Canceled on conflict out to pivot %d, "+
			"during read.", uint64(w.startTS)))
		r.Aborted()
	})
	t.Run("a writer that read what is overwritten after it", func(t *testing.T) {
		s := &stage{t: t}
		w := s.begin(Options{})
		s.reads(w, "x")
		r := s.begin(readOnly)
		out := s.begin(Options{})
		s.writes(out, "x")
		require.NoError(t, s.commit(out))
		s.writes(w, "y")
		require.NoError(t, s.commit(w))
		require.True(t, decided(r) && r.Safe())
		require.NoError(t, s.commit(r))
	})
	t.Run("a commit between the two numbers of the beginning", func(t *testing.T) {
		s := &stage{t: t}
		w, out := s.begin(Options{}), s.begin(Options{})
		s.reads(w, "x")
		s.writes(out, "x")
		require.NoError(t, s.commit(out))
		s.writes(w, "y")
		r := s.g.Begin(readOnly)
		s.clock++
		startTS := s.clock
		require.NoError(t, s.commit(w)) // above start_ts, and unseen
		r.Started(startTS)
		require.True(t, decided(r))
		require.False(t, r.Safe())
		r.Aborted()
	})
}

// TestWhatIsKeptIsBounded: a transaction that runs for long does not make everything after it stay.
func TestWhatIsKeptIsBounded(t *testing.T) {
	s := &stage{t: t}
	long := s.begin(Options{})
	s.reads(long, "a")
	for i := range 3 * committedMax {
		n := s.begin(Options{})
		s.reads(n, fmt.Sprintf("r%05d", i))
		s.writes(n, fmt.Sprintf("w%05d", i))
		require.NoError(t, s.commit(n))
		_, committed := s.g.Size()
		require.LessOrEqual(t, committed, committedMax)
	}
	require.LessOrEqual(t, len(s.g.old.reads.list), spansMax)
	s.reads(long, "w00000") // of one that was folded: one edge does no harm
	s.wantRefused(long.Write([]byte("r00001")), "Canceled on identification as a pivot, during "+
		"write.")
	long.Aborted()
	_, committed := s.g.Size()
	require.Zero(t, committed)
	require.Zero(t, s.g.old.committed)
}
