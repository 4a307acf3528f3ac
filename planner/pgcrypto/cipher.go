package pgcrypto

//lint:file-ignore ST1005 the texts are PostgreSQL's
//lint:file-ignore SA1019 pgcrypto has them, for values that exist

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"errors"
	"strings"

	"golang.org/x/crypto/blowfish"
	"golang.org/x/crypto/cast5"
)

// ErrCipher and ErrOption are about the name of a Cipher, ErrEncrypt and ErrDecrypt about the data.
var (
	ErrCipher  = errors.New("No such cipher algorithm")
	ErrOption  = errors.New("Unknown option")
	ErrKey     = errors.New("Cipher cannot be initialized")
	ErrEncrypt = errors.New("Encryption failed")
	ErrDecrypt = errors.New("Decryption failed")
)

// Cipher encrypts whole values.
type Cipher struct {
	make func(key []byte) (cipher.Block, error)
	ecb  bool
	pad  bool
}

// makers make the block ciphers of a key, by the names that these may have.
var makers = map[string]func(key []byte) (cipher.Block, error){
	"aes": newAES, "rijndael": newAES, "bf": newBlowfish, "blowfish": newBlowfish,
	"des": newDES, "des3": newTripleDES, "3des": newTripleDES, "cast5": newCAST5,
}

// ParseCipher reads algorithm[-mode][/pad:padding], such as aes-cbc/pad:pkcs.
func ParseCipher(text string) (*Cipher, error) {
	name, options, _ := strings.Cut(strings.ToLower(text), "/")
	c := &Cipher{pad: true}
	for option := range strings.SplitSeq(options, "/") {
		key, value, found := strings.Cut(option, ":")
		switch {
		case option == "":
		case key != "pad" || !found:
			return nil, ErrOption
		case value == "none":
			c.pad = false
		case value != "pkcs":
			return nil, ErrCipher
		}
	}
	name, mode, _ := strings.Cut(name, "-")
	switch mode {
	case "", "cbc":
	case "ecb":
		c.ecb = true
	default:
		return nil, ErrCipher
	}
	if c.make = makers[name]; c.make == nil {
		return nil, ErrCipher
	}
	return c, nil
}

// fitted is a key with zeros behind it, or cut, to one of the lengths.
func fitted(key []byte, lengths ...int) []byte {
	n := lengths[len(lengths)-1]
	for i := len(lengths) - 1; i >= 0; i-- {
		if len(key) <= lengths[i] {
			n = lengths[i]
		}
	}
	out := make([]byte, n)
	copy(out, key)
	return out
}

func newAES(key []byte) (cipher.Block, error) { return aes.NewCipher(fitted(key, 16, 24, 32)) }

func newBlowfish(key []byte) (cipher.Block, error) {
	if len(key) > 56 {
		key = key[:56]
	}
	return blowfish.NewCipher(key)
}

func newDES(key []byte) (cipher.Block, error) { return des.NewCipher(fitted(key, 8)) }
func newTripleDES(key []byte) (cipher.Block, error) {
	return des.NewTripleDESCipher(fitted(key, 24))
}
func newCAST5(key []byte) (cipher.Block, error) { return cast5.NewCipher(fitted(key, 16)) }

// piece is how much is encrypted between two steps.
const piece = 64 << 10

// Encrypt encrypts data. The initialisation vector is cut, or has zeros behind it.
func (c *Cipher) Encrypt(data, key, iv []byte, step func(bytes int) error) ([]byte, error) {
	b, err := c.make(key)
	if err != nil {
		return nil, ErrKey
	}
	n := b.BlockSize()
	if c.pad {
		k := n - len(data)%n
		padded := make([]byte, len(data)+k)
		for i := copy(padded, data); i < len(padded); i++ {
			padded[i] = byte(k)
		}
		data = padded
	}
	if len(data)%n != 0 {
		return nil, ErrEncrypt
	}
	mode := cipher.NewCBCEncrypter(b, fitted(iv, n))
	if c.ecb {
		mode = electronic{n, b.Encrypt}
	}
	return convert(mode, data, step)
}

// Decrypt decrypts data that Encrypt has made.
func (c *Cipher) Decrypt(data, key, iv []byte, step func(bytes int) error) ([]byte, error) {
	b, err := c.make(key)
	if err != nil {
		return nil, ErrKey
	}
	n := b.BlockSize()
	if len(data)%n != 0 || c.pad && len(data) == 0 {
		return nil, ErrDecrypt
	}
	mode := cipher.NewCBCDecrypter(b, fitted(iv, n))
	if c.ecb {
		mode = electronic{n, b.Decrypt}
	}
	out, err := convert(mode, data, step)
	if err != nil || !c.pad {
		return out, err
	}
	k := int(out[len(out)-1])
	if k < 1 || k > n {
		return nil, ErrDecrypt
	}
	for _, p := range out[len(out)-k:] {
		if int(p) != k {
			return nil, ErrDecrypt
		}
	}
	return out[:len(out)-k], nil
}

func convert(mode cipher.BlockMode, data []byte, step func(bytes int) error) ([]byte, error) {
	out := make([]byte, len(data))
	for i := 0; i < len(data); i += piece {
		end := min(i+piece, len(data))
		mode.CryptBlocks(out[i:end], data[i:end])
		if err := step(piece); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// electronic is the mode ECB: each block by itself.
type electronic struct {
	size int
	op   func(dst, src []byte)
}

func (e electronic) BlockSize() int { return e.size }

func (e electronic) CryptBlocks(dst, src []byte) {
	for i := 0; i < len(src); i += e.size {
		e.op(dst[i:], src[i:])
	}
}
