package backup

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
)

// Recipient is a public key that files are encrypted to, and Key the secret one that reads them:
// age's, of X25519 (https://age-encryption.org/v1).
type (
	Recipient = age.Recipient
	Key       = age.Identity
)

// ErrNoKey is returned for an encrypted backup without a key that reads it.
var ErrNoKey = errors.New("the backup is encrypted, and no key that was given reads it")

// NewKey makes a key, and returns it as a text with its public part.
func NewKey() (key, recipient string, err error) {
	k, err := age.GenerateX25519Identity()
	if err != nil {
		return "", "", err
	}
	return k.String(), k.Recipient().String(), nil
}

// ParseRecipients reads public keys, one in a line. Lines that begin with # are left out.
func ParseRecipients(text string) ([]Recipient, error) {
	all, err := age.ParseRecipients(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("public keys of backups begin with age1: %w", err)
	}
	return all, nil
}

// ParseKeys reads secret keys, one in a line. Lines that begin with # are left out.
func ParseKeys(text string) ([]Key, error) {
	all, err := age.ParseIdentities(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("keys of backups begin with AGE-SECRET-KEY-1: %w", err)
	}
	return all, nil
}

// closing is a writer behind which nothing is to be closed.
type closing struct{ io.Writer }

func (closing) Close() error { return nil }

// encrypting writes to out what the recipients may read. Its Close does not close out.
func encrypting(out io.Writer, to []Recipient) (io.WriteCloser, error) {
	if len(to) == 0 {
		return closing{out}, nil
	}
	return age.Encrypt(out, to...)
}

// decrypting reads a file that may be encrypted.
func decrypting(in io.Reader, f File, by []Key) (io.Reader, error) {
	if !f.Encrypted {
		return in, nil
	}
	if len(by) == 0 {
		return nil, ErrNoKey
	}
	r, err := age.Decrypt(in, by...)
	var none *age.NoIdentityMatchError
	if errors.As(err, &none) {
		return nil, ErrNoKey
	}
	return r, err
}
