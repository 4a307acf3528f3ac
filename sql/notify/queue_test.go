package notify

import (
	"strconv"
	"strings"
	"testing"

	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// ear is a listener that counts how often it was woken.
type ear struct {
	*Listener
	woken int
}

func listen(q *Queue, database uint32, channels ...string) *ear {
	e := &ear{}
	e.Listener = q.NewListener(database, 7, func() { e.woken++ })
	e.Listen(channels...)
	return e
}

func (e *ear) heard() (out []string) {
	for {
		got, more := e.Take(2)
		for _, n := range got {
			out = append(out, n.Channel+"="+n.Payload)
		}
		if !more {
			return out
		}
	}
}

func announce(t *testing.T, q *Queue, after uint64, messages ...string) *Sending {
	t.Helper()
	var p Pending
	for _, m := range messages {
		channel, payload, _ := strings.Cut(m, "=")
		require.NoError(t, p.Send(channel, payload))
	}
	s, err := q.Announce(Sender{Database: 1, PID: 9}, p, tso.Timestamp(after))
	require.NoError(t, err)
	return s
}

func TestMessagesComeInTheOrderOfTheirCommits(t *testing.T) {
	q := NewQueue()
	e := listen(q, 1, "c")
	first, second, third := announce(t, q, 1, "c=first"), announce(t, q, 2, "c=second"), announce(t,
		q, 4, "c=failed")
	second.Committed(5)
	require.Empty(t, e.heard(), "the first may have committed before, and may yet say so")
	first.Committed(3)
	require.Equal(t, []string{"c=first"}, e.heard())
	third.Close()
	require.Equal(t, []string{"c=second"}, e.heard())
	first.Close()
	second.Close()
	require.Equal(t, 2, e.woken)
	require.Zero(t, q.Usage())
}

func TestOnlyWhoListensGetsMessages(t *testing.T) {
	q := NewQueue()
	announce(t, q, 1, "c=before").Committed(2)
	here, other, elsewhere := listen(q, 1, "c", "d"), listen(q, 1, "e"), listen(q, 2, "c")
	announce(t, q, 3, "c=1", "d=2", "x=3", "c=1").Committed(4)
	require.Equal(t, []string{"c=1", "d=2"}, here.heard())
	require.Empty(t, other.heard())
	require.Empty(t, elsewhere.heard())
	require.Equal(t, []int{1, 0, 0}, []int{here.woken, other.woken, elsewhere.woken})
	require.Zero(t, q.Usage(), "everybody has taken what he wants")
	here.Close()
	require.False(t, here.Listening())
	announce(t, q, 5, "c=3").Committed(6)
	require.Empty(t, here.heard())
}

func TestListenAndUnlistenTakeEffectAtTheCommit(t *testing.T) {
	q := NewQueue()
	e := listen(q, 1, "c")
	var p Pending
	p.Listen("d")
	p.Unlisten("c")
	require.NoError(t, p.Send("d", "own"))
	s, err := q.Announce(Sender{Database: 1, PID: 7, Listener: e.Listener}, p, 1)
	require.NoError(t, err)
	require.Equal(t, []string{"c"}, e.Channels())
	s.Committed(0)
	s.Close()
	require.Equal(t, []string{"d"}, e.Channels())
	require.Equal(t, []string{"d=own"}, e.heard())
}

func TestAFullQueueRefusesSendersAndLosesNothing(t *testing.T) {
	q := NewQueue()
	e := listen(q, 1, "c")
	fast := listen(q, 1, "c")
	payload := strings.Repeat("x", maxPayload)
	sent := 0
	for ; sent < 10_000; sent++ {
		var p Pending
		require.NoError(t, p.Send("c", payload[:maxPayload-10]+strconv.Itoa(sent)))
		s, err := q.Announce(Sender{Database: 1}, p, tso.Timestamp(sent+1))
		if err != nil {
			require.ErrorContains(t, err, "too many notifications")
			break
		}
		s.Committed(0)
		s.Close()
		fast.heard()
	}
	require.Greater(t, sent, 8000)
	require.Less(t, sent, 10_000, "it is never full")
	require.InDelta(t, 1, q.Usage(), 0.01)
	require.Len(t, e.heard(), sent)
	require.Zero(t, q.Usage())
	announce(t, q, 1<<40, "c=on").Committed(0)
	require.Equal(t, []string{"c=on"}, e.heard())
}

func TestASavepointTakesMessagesBack(t *testing.T) {
	var p Pending
	for i := range 40 { // more than are looked through one by one
		require.NoError(t, p.Send("c", strconv.Itoa(i)))
	}
	at, bytes := p.Mark(), p.bytes
	require.NoError(t, p.Send("c", "39"), "which is sent already")
	require.NoError(t, p.Send("c", "back"))
	p.RollbackTo(at)
	require.Equal(t, bytes, p.bytes)
	require.NoError(t, p.Send("c", "back"))
	require.Len(t, p.messages, 41)
	require.Greater(t, p.bytes, bytes)
	require.ErrorContains(t, p.Send("", ""), "channel name cannot be empty")
	require.ErrorContains(t, p.Send(strings.Repeat("c", 64), ""), "channel name too long")
	require.ErrorContains(t, p.Send("c", strings.Repeat("x", 8000)), "payload string too long")
}
