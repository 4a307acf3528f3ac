package elected

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"io"
	"log/slog"
	"math/big"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// short is a term that a test can wait for.
const short = 50 * time.Millisecond

func join(t *testing.T, e kv.Engine, change func(*Options)) *Oracle {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	opts := Options{Engine: e, Key: cellKey, Listener: l, Term: short, Patience: time.Hour,
		Logger: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&opts)
	}
	o, err := Open(ctx, opts)
	require.NoError(t, err)
	return o
}

// crash ends what the process does, without a word to the store.
func (o *Oracle) crash() {
	o.end()
	_ = o.listener.Close()
	o.work.Wait()
	o.office.leave()
}

// TestTimestampsRiseOverFailOvers: several gateways draw while the holder leaves or crashes,
// again and again.
func TestTimestampsRiseOverFailOvers(t *testing.T) {
	e := memkv.New(memkv.Options{Shared: true, Lost: 3})
	var newest atomic.Uint64
	var drawers sync.WaitGroup
	draw := func(o *Oracle) {
		before := newest.Load()
		ts, err := o.Next(ctx)
		if err != nil {
			require.ErrorIs(t, err, errClosed)
			return
		}
		require.Greater(t, uint64(ts), before)
		for {
			known := newest.Load()
			if uint64(ts) <= known || newest.CompareAndSwap(known, uint64(ts)) {
				return
			}
		}
	}
	gateways := make([]*Oracle, 3)
	start := func(i int) {
		o := join(t, e, nil)
		gateways[i] = o
		for range 4 {
			drawers.Go(func() {
				for o.closed.Err() == nil {
					draw(o)
				}
			})
		}
	}
	for i := range gateways {
		start(i)
	}
	for round := range 50 {
		serving := -1
		for serving < 0 {
			for i, o := range gateways {
				if o.Serving() {
					serving = i
				}
			}
			draw(gateways[0])
		}
		old := gateways[serving]
		if round%4 == 0 {
			old.crash()
		} else {
			require.NoError(t, old.Close())
		}
		for _, o := range gateways {
			if o != old {
				draw(o)
			}
		}
		start(serving)
	}
	for _, o := range gateways {
		require.NoError(t, o.Close())
	}
	drawers.Wait()
}

// TestQuestionsShareARequest counts the requests that a holder answers.
func TestQuestionsShareARequest(t *testing.T) {
	e := memkv.New(memkv.Options{Shared: true, Lost: 3})
	slow := func(o *Options) { o.Term = time.Minute }
	a := join(t, e, slow)
	before := a.office.current().oracle.Last()
	b := join(t, e, slow)
	questions := make([]question, 1000)
	asks := asker{o: b}
	for i := range questions {
		questions[i] = question{ctx: ctx, answer: make(chan answer, 1)}
	}
	asks.waiting = questions
	first, err := asks.request(ctx, len(questions))
	require.NoError(t, err)
	require.Greater(t, first, before)
	require.Equal(t, first+999, a.office.current().oracle.Last())
	asks.hangUp()
	require.NoError(t, b.Close())
	require.NoError(t, a.Close())
}

// TestNobodyServes: a gateway that is cut off from the store refuses, after its patience.
func TestNobodyServes(t *testing.T) {
	e := memkv.New(memkv.Options{Shared: true, Lost: 3})
	a := join(t, e, func(o *Options) { o.Term = time.Minute })
	b := join(t, e, func(o *Options) { o.Term, o.Patience = time.Minute, short })
	a.crash()
	_, err := b.Next(ctx)
	require.ErrorIs(t, err, tso.ErrUnavailable)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, err = b.Next(cancelled)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, b.Close())
}

func TestTimeForTTLsNeedsNoRequest(t *testing.T) {
	e := memkv.New(memkv.Options{Shared: true, Lost: 3})
	slow := func(o *Options) { o.Term = time.Minute }
	a, b := join(t, e, slow), join(t, e, slow)
	last := a.office.current().oracle.Last()
	for range 100 {
		now := b.Now()
		require.GreaterOrEqual(t, now, last)
		require.Less(t, now.Time().Sub(last.Time()), time.Minute)
	}
	require.Equal(t, last, a.office.current().oracle.Last())
	require.NoError(t, b.Close())
	require.NoError(t, a.Close())
}

// TestOnlyTheTokenOpens: the holder answers only clients that know its token, and only
// what is asked as it should be.
func TestOnlyTheTokenOpens(t *testing.T) {
	a := join(t, memkv.New(memkv.Options{Shared: true, Lost: 3}),
		func(o *Options) { o.Term = time.Minute })
	right := append([]byte(greeting), a.office.current().self.token[:]...)
	wrong := append([]byte(greeting), make([]byte, tokenLen)...)
	for name, words := range map[string][][]byte{
		"wrong token": {wrong},
		"no token":    {[]byte("GET / HTTP/1.1\r\n\r\n....")},
		"nothing":     {right, {0, 0, 0, 0}},
		"too many":    {right, binary.BigEndian.AppendUint32(nil, tso.MaxDraw+1)},
	} {
		t.Run(name, func(t *testing.T) {
			last := a.office.current().oracle.Last()
			c, err := net.Dial("tcp", a.listener.Addr().String())
			require.NoError(t, err)
			defer func() { require.NoError(t, c.Close()) }()
			for _, w := range words {
				_, err = c.Write(w)
				require.NoError(t, err)
			}
			got, err := io.ReadAll(c)
			if err == nil { // or the connection was reset
				require.Len(t, got, (len(words)-1)*len(greeting))
			}
			require.Equal(t, last, a.office.current().oracle.Last())
		})
	}
	require.NoError(t, a.Close())
}

// TestMutualTLS: those that the same authority has signed draw from each other; one without a
// certificate does not.
func TestMutualTLS(t *testing.T) {
	e := memkv.New(memkv.Options{Shared: true, Lost: 3})
	conf := signed(t)
	a := join(t, e, func(o *Options) { o.Term, o.TLS = time.Minute, conf })
	b := join(t, e, func(o *Options) { o.Term, o.TLS = time.Minute, conf })
	ts, err := b.Next(ctx)
	require.NoError(t, err)
	require.Equal(t, a.office.current().oracle.Last(), ts)

	nameless := &tls.Config{RootCAs: conf.RootCAs}
	for _, other := range []*tls.Config{nil, nameless} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		_, err = Open(ctx, Options{Engine: e, Key: cellKey, Listener: l, Term: time.Minute,
			Patience: short, TLS: other, Logger: slog.New(slog.DiscardHandler)})
		require.ErrorIs(t, err, tso.ErrUnavailable)
	}
	require.NoError(t, b.Close())
	require.NoError(t, a.Close())
}

// signed returns a configuration for 127.0.0.1 that trusts itself only.
func signed(t *testing.T) *tls.Config {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Unix(1<<33, 0),
		Subject: pkix.Name{CommonName: "minidb"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth,
			x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		RootCAs:      pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
		MinVersion: tls.VersionTLS13}
}
