// Package scram makes and reads what a server keeps of a password for SCRAM-SHA-256 (RFC 5802,
// RFC 7677): a verifier, from which the password cannot be found but by trying.
//
//	SCRAM-SHA-256$4096:<salt>$<StoredKey>:<ServerKey>       salt and keys in base64
//
// It is PostgreSQL's text, so verifiers go both ways between the two.
package scram

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strconv"
	"strings"
)

const (
	// Mechanism is the name of the method, with which the text of a verifier begins.
	Mechanism = "SCRAM-SHA-256"
	// Iterations is how often a new verifier's password is hashed, as in PostgreSQL 15.
	Iterations = 4096
	// SaltBytes is the length of a new verifier's salt.
	SaltBytes = 16
)

// Verifier is what a server keeps of a password.
type Verifier struct {
	Iterations int
	Salt       []byte
	StoredKey  []byte // H(ClientKey): proves that a client knows the password
	ServerKey  []byte // with which the server proves that it knows the verifier
}

// New makes the verifier of a password with a salt. The password is normalised first (Prepare).
func New(password string, salt []byte, iterations int) (Verifier, error) {
	salted, err := pbkdf2.Key(sha256.New, Prepare(password), salt, iterations, sha256.Size)
	if err != nil {
		return Verifier{}, err
	}
	client := Sign(salted, "Client Key")
	stored := sha256.Sum256(client)
	return Verifier{Iterations: iterations, Salt: salt, StoredKey: stored[:],
		ServerKey: Sign(salted, "Server Key")}, nil
}

// Random makes the verifier of a password with a new salt.
func Random(password string) (Verifier, error) {
	salt := make([]byte, SaltBytes)
	if _, err := rand.Read(salt); err != nil {
		return Verifier{}, err
	}
	return New(password, salt, Iterations)
}

// Sign is HMAC-SHA-256 of a text.
func Sign(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// Parse reads the text of a verifier; false when it is none.
func Parse(text string) (v Verifier, ok bool) {
	parts := strings.Split(text, "$")
	if len(parts) != 3 || parts[0] != Mechanism {
		return v, false
	}
	iterations, salt, ok1 := strings.Cut(parts[1], ":")
	stored, server, ok2 := strings.Cut(parts[2], ":")
	if !ok1 || !ok2 {
		return v, false
	}
	var err error
	if v.Iterations, err = strconv.Atoi(iterations); err != nil || v.Iterations < 1 {
		return v, false
	}
	if v.Salt, err = base64.StdEncoding.DecodeString(salt); err != nil {
		return v, false
	}
	v.StoredKey, err = base64.StdEncoding.DecodeString(stored)
	if err != nil || len(v.StoredKey) != sha256.Size {
		return v, false
	}
	v.ServerKey, err = base64.StdEncoding.DecodeString(server)
	return v, err == nil && len(v.ServerKey) == sha256.Size
}

// String returns the text that Parse reads.
func (v Verifier) String() string {
	b64 := base64.StdEncoding.EncodeToString
	return Mechanism + "$" + strconv.Itoa(v.Iterations) + ":" + b64(v.Salt) + "$" +
		b64(v.StoredKey) + ":" + b64(v.ServerKey)
}

// Proves reports whether a client's proof for an exchange (its AuthMessage, RFC 5802 §3) shows that
// the client knows the password. It takes the same time for every proof of the right length.
func (v Verifier) Proves(authMessage string, proof []byte) bool {
	signature := Sign(v.StoredKey, authMessage)
	if len(proof) != len(signature) {
		return false
	}
	client := make([]byte, len(proof))
	subtle.XORBytes(client, proof, signature)
	stored := sha256.Sum256(client)
	return subtle.ConstantTimeCompare(stored[:], v.StoredKey) == 1
}

// ServerSignature is the server's own proof in an exchange.
func (v Verifier) ServerSignature(authMessage string) []byte {
	return Sign(v.ServerKey, authMessage)
}

// Matches reports whether the verifier was made of a password.
func (v Verifier) Matches(password string) bool {
	w, err := New(password, v.Salt, v.Iterations)
	return err == nil && subtle.ConstantTimeCompare(w.StoredKey, v.StoredKey) == 1
}
