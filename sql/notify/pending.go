package notify

import "slices"

import "github.com/minidb/minidb/internal/sqlerr"

// Bounds of names and messages in bytes, PostgreSQL's.
const (
	maxChannel = 63
	maxPayload = 7999
)

// Pending is what a transaction is to do with notifications once it commits. The zero value is
// empty.
type Pending struct {
	actions  []action
	messages []message
	sent     map[message]struct{} // those of messages; nil while there are few
	bytes    int
}

type message struct{ channel, payload string }

func (m message) size() int { return len(m.channel) + len(m.payload) + entryOverhead }

// action is LISTEN or UNLISTEN; without a channel it is UNLISTEN *.
type action struct {
	listen  bool
	channel string
}

// Send adds a message. One that the transaction sends already is sent once.
func (p *Pending) Send(channel, payload string) error {
	switch {
	case channel == "":
		return sqlerr.New(sqlerr.InvalidParameterValue, "channel name cannot be empty")
	case len(channel) > maxChannel:
		return sqlerr.New(sqlerr.InvalidParameterValue, "channel name too long")
	case len(payload) > maxPayload:
		return sqlerr.New(sqlerr.InvalidParameterValue, "payload string too long").
			WithHint("A payload may have %d bytes: store what is longer in a table, and send its "+
				"key.", maxPayload)
	}
	m := message{channel, payload}
	if p.has(m) {
		return nil
	}
	if p.bytes+m.size() > maxBytes {
		return errFull()
	}
	p.messages, p.bytes = append(p.messages, m), p.bytes+m.size()
	if p.sent != nil {
		p.sent[m] = struct{}{}
	}
	return nil
}

// has looks for a message, and makes an index of them when they are many.
func (p *Pending) has(m message) bool {
	const few = 16
	if p.sent == nil && len(p.messages) > few {
		p.sent = make(map[message]struct{}, 2*len(p.messages))
		for _, m := range p.messages {
			p.sent[m] = struct{}{}
		}
	}
	if p.sent != nil {
		_, found := p.sent[m]
		return found
	}
	return slices.Contains(p.messages, m)
}

// Listen makes the session listen.
func (p *Pending) Listen(channel string) {
	p.actions = append(p.actions, action{listen: true, channel: channel})
}

// Unlisten ends that for one channel.
func (p *Pending) Unlisten(channel string) {
	p.actions = append(p.actions, action{channel: channel})
}

// UnlistenAll ends it for all.
func (p *Pending) UnlistenAll() { p.actions = append(p.actions, action{}) }

// Empty says that there is nothing to do.
func (p *Pending) Empty() bool { return len(p.actions) == 0 && len(p.messages) == 0 }

// Mark is a point to go back to.
type Mark struct{ actions, messages int }

// Mark returns the present point.
func (p *Pending) Mark() Mark { return Mark{len(p.actions), len(p.messages)} }

// RollbackTo forgets what was added since m.
func (p *Pending) RollbackTo(m Mark) {
	for _, gone := range p.messages[m.messages:] {
		p.bytes -= gone.size()
		delete(p.sent, gone)
	}
	p.actions, p.messages = p.actions[:m.actions], p.messages[:m.messages]
}
