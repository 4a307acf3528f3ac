package pgcrypto

//lint:file-ignore ST1005 the texts are PostgreSQL's

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
)

// ErrSalt is that a salt is none of a known format; ErrRounds and ErrAlgorithm are about GenSalt.
var (
	ErrSalt      = errors.New("invalid salt")
	ErrRounds    = errors.New("Incorrect number of rounds")
	ErrAlgorithm = errors.New("Unknown salt algorithm")
)

// itoa64 are the digits of crypt(3), bcryptDigits those of bcrypt.
const (
	itoa64       = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	bcryptDigits = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
)

// Crypt hashes a password in the format of the salt, which may be a hash that was made before.
func Crypt(password, salt string, step func(bytes int) error) (string, error) {
	switch {
	case len(salt) > 3 && salt[0] == '$' && salt[1] == '2' && salt[3] == '$' &&
		(salt[2] == 'a' || salt[2] == 'x'):
		return cryptBlowfish(password, salt, step)
	case strings.HasPrefix(salt, "$2$"):
		return "", ErrSalt
	case strings.HasPrefix(salt, "$1$"):
		return cryptMD5(password, salt, step)
	case strings.HasPrefix(salt, "_"):
		return cryptExtendedDES(password, salt, step)
	case len(salt) < 2:
		return "", ErrSalt
	}
	return cryptDES(password, salt, step)
}

// GenSalt makes a random salt: "bf", "md5", "xdes" or "des". rounds 0 is the format's default.
func GenSalt(algorithm string, rounds int) (string, error) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	switch strings.ToLower(algorithm) {
	case "bf":
		if rounds == 0 {
			rounds = 6
		}
		if rounds < minCost || rounds > maxCost {
			return "", ErrRounds
		}
		cost := strconv.Itoa(rounds)
		if rounds < 10 {
			cost = "0" + cost
		}
		return "$2a$" + cost + "$" + encodeBcrypt(b[:]), nil
	case "md5":
		if rounds != 0 && rounds != 1000 {
			return "", ErrRounds
		}
		return "$1$" + digits(b[:6], 8), nil
	case "xdes":
		if rounds == 0 {
			rounds = 29 * 25
		}
		if rounds < 1 || rounds > 0xffffff || rounds%2 == 0 {
			return "", ErrRounds
		}
		n := uint32(rounds)
		out := []byte{'_'}
		for range 4 {
			out, n = append(out, itoa64[n&63]), n>>6
		}
		return string(out) + digits(b[:3], 4), nil
	case "des":
		if rounds != 0 && rounds != 25 {
			return "", ErrRounds
		}
		return digits(b[:2], 2), nil
	}
	return "", ErrAlgorithm
}

// digits writes n digits of six bits each, of the bytes from the lowest bit up.
func digits(b []byte, n int) string {
	var word [8]byte
	copy(word[:], b)
	v := binary.LittleEndian.Uint64(word[:])
	out := make([]byte, n)
	for i := range out {
		out[i], v = itoa64[v&63], v>>6
	}
	return string(out)
}
