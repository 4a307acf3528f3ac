package pgcrypto

//lint:file-ignore SA1019 pgcrypto has them, for values that exist

import (
	"encoding/base64"
	"strconv"

	"golang.org/x/crypto/blowfish"
)

// The costs that bcrypt may have: the binary logarithms of its rounds.
const (
	minCost = 4
	maxCost = 31
)

var bcryptEncoding = base64.NewEncoding(bcryptDigits).WithPadding(base64.NoPadding)

// encodeBcrypt writes 16 bytes as 22 digits.
func encodeBcrypt(b []byte) string { return bcryptEncoding.EncodeToString(b) }

// cryptBlowfish is bcrypt, $2a$cost$salt. The password counts up to its 72nd byte.
func cryptBlowfish(password, setting string, step func(bytes int) error) (string, error) {
	const head, saltLength = 7, 22
	if len(setting) < head+saltLength || setting[6] != '$' {
		return "", ErrSalt
	}
	cost, err := strconv.Atoi(setting[4:6])
	if err != nil || cost < minCost || cost > maxCost {
		return "", ErrSalt
	}
	// Only the first two bits of the last digit belong to the salt.
	salt, err := bcryptEncoding.DecodeString(setting[head : head+saltLength])
	if err != nil {
		return "", ErrSalt
	}
	key := append([]byte(password), 0)
	key = key[:min(len(key), 72)]
	c, err := blowfish.NewSaltedCipher(key, salt)
	if err != nil {
		return "", ErrSalt
	}
	for range uint64(1) << cost {
		blowfish.ExpandKey(key, c)
		blowfish.ExpandKey(salt, c)
		if err := step(roundBytes); err != nil {
			return "", err
		}
	}
	text := []byte("OrpheanBeholderScryDoubt")
	for i := 0; i < len(text); i += blowfish.BlockSize {
		for range 64 {
			c.Encrypt(text[i:], text[i:])
		}
	}
	return setting[:head] + encodeBcrypt(salt) + encodeBcrypt(text[:23]), nil
}

// roundBytes is the work of a round of bcrypt as bytes that are copied in the same time.
const roundBytes = 256 << 10
