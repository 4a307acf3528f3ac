package pgcrypto

//lint:file-ignore ST1005 the texts are PostgreSQL's

import (
	"encoding/base64"
	"errors"
	"strings"
)

// ErrArmor is that a text is no ASCII armor.
var ErrArmor = errors.New("Corrupt ascii-armor")

const (
	armorBegin = "-----BEGIN PGP MESSAGE-----\n"
	armorEnd   = "\n-----END PGP MESSAGE-----\n"
	armorLine  = 76
)

// Header is a line of an armor's head.
type Header struct{ Key, Value string }

// Armor is data in the ASCII armor of RFC 4880 §6.
func Armor(data string, headers []Header) string {
	var b strings.Builder
	b.WriteString(armorBegin)
	for _, h := range headers {
		b.WriteString(h.Key + ": " + h.Value + "\n")
	}
	b.WriteString("\n")
	text := base64.StdEncoding.EncodeToString([]byte(data))
	for i := 0; i < len(text); i += armorLine {
		b.WriteString(text[i:min(i+armorLine, len(text))])
		if i+armorLine <= len(text) {
			b.WriteString("\n")
		}
	}
	if n := len(text) % armorLine; n != 0 {
		b.WriteString("\n")
	}
	b.WriteString("=" + base64.StdEncoding.EncodeToString(checksum(data)) + armorEnd)
	return b.String()
}

// checksum is the CRC-24 of RFC 4880 §6.1.
func checksum(data string) []byte {
	crc := uint32(0xb704ce)
	for i := range len(data) {
		crc ^= uint32(data[i]) << 16
		for range 8 {
			if crc <<= 1; crc&0x1000000 != 0 {
				crc ^= 0x1864cfb
			}
		}
	}
	return []byte{byte(crc >> 16), byte(crc >> 8), byte(crc)}
}

// split takes the lines of headers and of data out of an armor.
func split(text string) (headers, lines []string, err error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	_, rest, found := strings.Cut("\n"+text, "\n-----BEGIN PGP ")
	if !found {
		return nil, nil, ErrArmor
	}
	_, rest, found = strings.Cut(rest, "-----\n")
	body, _, closed := strings.Cut(rest, "\n-----END PGP ")
	if !found || !closed {
		return nil, nil, ErrArmor
	}
	all := strings.Split(body, "\n")
	for i, line := range all {
		if line == "" {
			return all[:i], all[i+1:], nil
		}
	}
	return nil, nil, ErrArmor
}

// Dearmor is the data of an armor, whose checksum must be right.
func Dearmor(text string) (string, error) {
	_, lines, err := split(text)
	if err != nil || len(lines) == 0 {
		return "", ErrArmor
	}
	sum, ok := strings.CutPrefix(lines[len(lines)-1], "=")
	if !ok {
		return "", ErrArmor
	}
	data, err := base64.StdEncoding.DecodeString(strings.Join(lines[:len(lines)-1], ""))
	if err != nil || base64.StdEncoding.EncodeToString(checksum(string(data))) != sum {
		return "", ErrArmor
	}
	return string(data), nil
}

// Headers are those of an armor.
func Headers(text string) ([]Header, error) {
	lines, _, err := split(text)
	out := make([]Header, 0, len(lines))
	for _, line := range lines {
		key, value, ok := strings.Cut(line, ": ")
		if !ok {
			return nil, ErrArmor
		}
		out = append(out, Header{key, value})
	}
	return out, err
}
