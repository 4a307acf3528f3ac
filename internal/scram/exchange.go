package scram

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
)

// MechanismPlus is the mechanism whose proof covers the TLS connection too: an attacker in the
// middle, with a connection to either side, cannot pass it on.
const MechanismPlus = Mechanism + "-PLUS"

// bindingType is the one kind of channel binding: the hash of the server's certificate (RFC 5929
// §4).
const bindingType = "tls-server-end-point"

// nonceBytes is the length of the server's part of the nonce before it becomes text, PostgreSQL's.
const nonceBytes = 18

// Exchange is the server's side of one exchange (RFC 5802 §5):
//
//	client-first  n,,n=,r=<nonce>            ──▶
//	              ◀──  r=<nonce><server's>,s=<salt>,i=<iterations>   server-first
//	client-final  c=biws,r=<both>,p=<proof>  ──▶
//	              ◀──  v=<signature>                                 server-final
type Exchange struct {
	verifier Verifier
	plus     bool   // the client chose SCRAM-SHA-256-PLUS
	binding  []byte // of the TLS connection; nil: there is none, and PLUS was not offered

	header      string // of the client's first message: how it binds
	first       string // the client's first message without it
	serverFirst string
	nonce       string
}

// NewExchange begins an exchange by the mechanism that the client chose. binding is the hash of the
// server's certificate, nil without TLS; PLUS was offered exactly if there is one.
func NewExchange(v Verifier, mechanism string, binding []byte) (*Exchange, error) {
	switch {
	case mechanism == Mechanism:
	case mechanism == MechanismPlus && binding != nil:
	default:
		return nil, malformed("Client selected an invalid SASL authentication mechanism.")
	}
	return &Exchange{verifier: v, plus: mechanism == MechanismPlus, binding: binding}, nil
}

// First takes the client's first message, and returns the server's.
func (e *Exchange) First(message []byte) ([]byte, error) {
	var random [nonceBytes]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, err
	}
	return e.answer(message, base64.StdEncoding.EncodeToString(random[:]))
}

// answer is First with a given server's part of the nonce.
func (e *Exchange) answer(message []byte, nonce string) ([]byte, error) {
	if bytes.IndexByte(message, 0) >= 0 {
		return nil, malformed("Message contains a zero byte.")
	}
	flag, rest, _ := strings.Cut(string(message), ",")
	if err := e.checkFlag(flag); err != nil {
		return nil, err
	}
	identity, bare, ok := strings.Cut(rest, ",")
	switch {
	case !ok:
		return nil, malformed("Comma expected, but there is none.")
	case identity != "":
		return nil, sqlerr.New(sqlerr.FeatureNotSupported,
			"client uses authorization identity, but it is not supported")
	case strings.HasPrefix(bare, "m="):
		return nil, sqlerr.New(sqlerr.FeatureNotSupported,
			"client requires an unsupported SCRAM extension")
	}
	// The name is not used: the start-up packet has it, as with PostgreSQL.
	fields := strings.Split(bare, ",")
	if len(fields) < 2 || !strings.HasPrefix(fields[0], "n=") ||
		!strings.HasPrefix(fields[1], "r=") {
		return nil, malformed("Attributes \"n\" and \"r\" were expected.")
	}
	clients := fields[1][2:]
	if clients == "" || strings.ContainsFunc(clients, func(r rune) bool {
		return r < 0x21 || r > 0x7e
	}) {
		return nil, malformed("The nonce is empty or has characters that cannot be printed.")
	}
	e.header, e.first, e.nonce = flag+",,", bare, clients+nonce
	e.serverFirst = "r=" + e.nonce + ",s=" + base64.StdEncoding.EncodeToString(e.verifier.Salt) +
		",i=" + strconv.Itoa(e.verifier.Iterations)
	return []byte(e.serverFirst), nil
}

// checkFlag reads how the client binds the exchange to the connection: n (it cannot), y (it can and
// believes that the server cannot), p=type (it does).
func (e *Exchange) checkFlag(flag string) error {
	kind, binds := strings.CutPrefix(flag, "p=")
	switch {
	case flag == "n" && !e.plus:
		return nil
	case flag == "y" && !e.plus:
		if e.binding == nil {
			return nil
		}
		// An attacker between the two has taken PLUS from the list of mechanisms.
		return sqlerr.New(sqlerr.InvalidAuthorization, "SCRAM channel binding negotiation error").
			WithDetail("The client supports SCRAM channel binding but thinks the server does " +
				"not. However, this server does support channel binding.")
	case flag == "n", flag == "y":
		return malformed("The client selected SCRAM-SHA-256-PLUS, but the SCRAM message does " +
			"not include channel binding data.")
	case binds && !e.plus:
		return malformed("The client selected SCRAM-SHA-256 without channel binding, but the " +
			"SCRAM message includes channel binding data.")
	case binds && kind != bindingType:
		return sqlerr.New(sqlerr.ProtocolViolation,
			"unsupported SCRAM channel-binding type \"%s\"", printable(kind))
	case binds:
		return nil
	}
	return malformed("Unexpected channel-binding flag \"" + printable(flag) + "\".")
}

// Final takes the client's last message. proved reports whether the client knows the password; the
// server's last message is for one that does.
func (e *Exchange) Final(message []byte) (last []byte, proved bool, err error) {
	text := string(message)
	without, proof64, ok := cutLast(text, ",p=")
	if !ok || bytes.IndexByte(message, 0) >= 0 {
		return nil, false, malformed("The proof is missing.")
	}
	fields := strings.Split(without, ",")
	if len(fields) < 2 || !strings.HasPrefix(fields[0], "c=") ||
		!strings.HasPrefix(fields[1], "r=") {
		return nil, false, malformed("Attributes \"c\" and \"r\" were expected.")
	}
	bound, err := base64.StdEncoding.DecodeString(fields[0][2:])
	want := []byte(e.header)
	if e.plus {
		want = append(want, e.binding...)
	}
	if err != nil || !bytes.Equal(bound, want) {
		return nil, false, sqlerr.New(sqlerr.InvalidAuthorization,
			"SCRAM channel binding check failed")
	}
	if fields[1][2:] != e.nonce {
		return nil, false, sqlerr.New(sqlerr.ProtocolViolation, "invalid SCRAM response").
			WithDetail("Nonce does not match.")
	}
	proof, err := base64.StdEncoding.DecodeString(proof64)
	if err != nil || len(proof) != len(e.verifier.StoredKey) {
		return nil, false, malformed("The proof is malformed.")
	}
	exchange := e.first + "," + e.serverFirst + "," + without
	if !e.verifier.Proves(exchange, proof) {
		return nil, false, nil
	}
	signature := base64.StdEncoding.EncodeToString(e.verifier.ServerSignature(exchange))
	return []byte("v=" + signature), true, nil
}

// cutLast is strings.Cut at the last place.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// Unknown is the verifier that stands for a user without a password. Its salt is that of the name
// at each attempt, derived from a secret of the server's, and no password belongs to it. So neither
// what a client is sent nor how long that takes shows whether a user exists.
func Unknown(user string, secret []byte) Verifier {
	return Verifier{Iterations: Iterations, Salt: Sign(secret, "salt "+user)[:SaltBytes],
		StoredKey: Sign(secret, "stored key "+user), ServerKey: Sign(secret, "server key "+user)}
}

func malformed(detail string) error {
	return sqlerr.New(sqlerr.ProtocolViolation, "malformed SCRAM message").WithDetail("%s", detail)
}

// printable is a text of a client as an error shows it.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x21 || r > 0x7e {
			return '?'
		}
		return r
	}, s[:min(len(s), 30)])
}
