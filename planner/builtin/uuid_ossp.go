package builtin

import (
	"crypto/md5" //nolint:gosec // what version 3 is made of
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // what version 5 is made of
	"encoding/binary"
	"hash"
	"sync"
	"time"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// uuidFunctions are those of the extension uuid-ossp.
var uuidFunctions = []def{
	f("uuid_nil() uuid", always(types.NewString(string(make([]byte, 16))))),
	f("uuid_ns_dns() uuid", always(uuidNamespace(0))),
	f("uuid_ns_url() uuid", always(uuidNamespace(1))),
	f("uuid_ns_oid() uuid", always(uuidNamespace(2))),
	f("uuid_ns_x500() uuid", always(uuidNamespace(4))),
	f("uuid_generate_v1() uuid", func(*expr.Runtime, []types.Datum) (types.Datum, error) {
		return types.NewString(string(clock.uuid(clock.node()))), nil
	}).volatile(),
	f("uuid_generate_v1mc() uuid", func(*expr.Runtime, []types.Datum) (types.Datum, error) {
		return types.NewString(string(clock.uuid(randomNode()))), nil
	}).volatile(),
	f("uuid_generate_v4() uuid", randomUUID).volatile(),
	f("uuid_generate_v3(uuid,text) uuid", namedUUID(3, md5.New)),
	f("uuid_generate_v5(uuid,text) uuid", namedUUID(5, sha1.New)),
}

// uuidNamespace is one of RFC 4122's namespaces, which differ in one byte (appendix C).
func uuidNamespace(n byte) types.Datum {
	return types.NewString("\x6b\xa7\xb8" + string([]byte{0x10 + n}) +
		"\x9d\xad\x11\xd1\x80\xb4\x00\xc0\x4f\xd4\x30\xc8")
}

// namedUUID makes a UUID of a name in a namespace (RFC 4122 §4.3).
func namedUUID(version byte, newHash func() hash.Hash) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		h := newHash()
		h.Write([]byte(a[0].S))
		err := eachPiece(rt, a[1].S, func(piece string) { h.Write([]byte(piece)) })
		return types.NewString(string(versioned(h.Sum(nil)[:16], version))), err
	}
}

// versioned sets the version of a UUID, and the variant of RFC 4122.
func versioned(u []byte, version byte) []byte {
	u[6] = u[6]&0x0f | version<<4
	u[8] = u[8]&0x3f | 0x80
	return u
}

// uuidClock makes the UUIDs of version 1 (RFC 4122 §4.2). No two of a process have the same time;
// the clock sequence, which is random for each process, differs between processes.
type uuidClock struct {
	mu struct {
		sync.Mutex
		last int64 // in units of 100 ns since 1582
	}
	start    sync.Once
	sequence uint16
	own      [6]byte
}

var clock uuidClock

// gregorian is 1970 in units of 100 ns since 15 October 1582.
const gregorian = 0x01b21dd213814000

func (c *uuidClock) begin() {
	c.start.Do(func() {
		var b [2]byte
		fillRandom(b[:])
		c.sequence, c.own = binary.BigEndian.Uint16(b[:]), randomNode()
	})
}

// node is the node of this process. It is random rather than the address of a network interface,
// which §4.5 allows, so that a UUID has nothing of the machine.
func (c *uuidClock) node() [6]byte {
	c.begin()
	return c.own
}

func (c *uuidClock) uuid(node [6]byte) []byte {
	c.begin()
	c.mu.Lock()
	c.mu.last = max(c.mu.last+1, time.Now().UnixNano()/100+gregorian)
	now := uint64(c.mu.last)
	c.mu.Unlock()
	u := make([]byte, 16)
	binary.BigEndian.PutUint32(u, uint32(now))
	binary.BigEndian.PutUint16(u[4:], uint16(now>>32))
	binary.BigEndian.PutUint16(u[6:], uint16(now>>48))
	binary.BigEndian.PutUint16(u[8:], c.sequence)
	copy(u[10:], node[:])
	return versioned(u, 1)
}

// randomNode is a node with the bit that no address of a network interface has.
func randomNode() (node [6]byte) {
	fillRandom(node[:])
	node[0] |= 1
	return node
}

// fillRandom fills b. The system's source never fails.
func fillRandom(b []byte) { _, _ = rand.Read(b) }

// ownRandomUUID is pgcrypto's function of the name that pg_catalog has as well.
var ownRandomUUID = f("gen_random_uuid() uuid", randomUUID).volatile()
