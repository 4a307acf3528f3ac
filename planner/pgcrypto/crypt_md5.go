package pgcrypto

import (
	"crypto/md5" //nolint:gosec // the format's
	"strings"
)

// cryptMD5 is FreeBSD's format $1$salt$, a thousand rounds of MD5.
func cryptMD5(password, setting string, step func(bytes int) error) (string, error) {
	salt, _, _ := strings.Cut(setting[3:], "$")
	salt = salt[:min(len(salt), 8)]
	final := md5.Sum([]byte(password + salt + password))
	h := md5.New()
	h.Write([]byte(password + "$1$" + salt))
	for n := len(password); n > 0; n -= 16 {
		h.Write(final[:min(n, 16)])
	}
	for n := len(password); n > 0; n >>= 1 {
		if n&1 != 0 {
			h.Write([]byte{0})
		} else {
			h.Write([]byte(password)[:1])
		}
	}
	sum := h.Sum(nil)
	for i := range 1000 {
		if err := step(len(password)*2 + 64); err != nil {
			return "", err
		}
		sum = md5Round(i, password, salt, sum)
	}
	out := "$1$" + salt + "$"
	for i := range 5 {
		last := i + 12
		if i == 4 {
			last = 5
		}
		out += digits([]byte{sum[last], sum[i+6], sum[i]}, 4)
	}
	return out + digits(sum[11:12], 2), nil
}

func md5Round(i int, password, salt string, sum []byte) []byte {
	h := md5.New()
	first, last := sum, []byte(password)
	if i&1 != 0 {
		first, last = last, sum
	}
	h.Write(first)
	if i%3 != 0 {
		h.Write([]byte(salt))
	}
	if i%7 != 0 {
		h.Write([]byte(password))
	}
	h.Write(last)
	return h.Sum(nil)
}
