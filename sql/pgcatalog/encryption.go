package pgcatalog

import (
	"cmp"
	"crypto/tls"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"strings"

	"github.com/minidb/minidb/table/types"
)

// Encryption is a client's connection in TLS, by the names of OpenSSL, as pg_stat_ssl has them.
type Encryption struct {
	Version, Cipher string
	Bits            int32 // of the key
	// What follows is of the client's certificate; zero without one.
	Client, Issuer string
	Serial         types.Datum // numeric
}

// EncryptionOf describes a connection whose handshake is over.
func EncryptionOf(state *tls.ConnectionState) *Encryption {
	e := &Encryption{Bits: 256, Serial: types.Null,
		Version: strings.ReplaceAll(tls.VersionName(state.Version), "TLS 1", "TLSv1"),
		Cipher:  openSSL(tls.CipherSuiteName(state.CipherSuite))}
	if strings.Contains(e.Cipher, "AES128") || strings.Contains(e.Cipher, "AES_128") {
		e.Bits = 128
	}
	if len(state.PeerCertificates) > 0 {
		cert := state.PeerCertificates[0]
		e.Client, e.Issuer = distinguished(cert.RawSubject), distinguished(cert.RawIssuer)
		if serial, err := types.ParseNumeric(cert.SerialNumber.String()); err == nil {
			e.Serial = types.NewDecimal(serial)
		}
	}
	return e
}

// openSSL is OpenSSL's name of a cipher suite; those of TLS 1.3 are the same.
func openSSL(suite string) string {
	exchange, cipher, older := strings.Cut(strings.TrimPrefix(suite, "TLS_"), "_WITH_")
	if !older {
		return suite
	}
	if exchange != "RSA" {
		cipher = exchange + "_" + cipher
	}
	return strings.NewReplacer("AES_", "AES", "_CBC_", "-", "POLY1305_SHA256", "POLY1305", "_",
		"-").Replace(cipher)
}

// distinguished writes a name in DER as OpenSSL does on one line. PostgreSQL keeps 63 bytes of it.
func distinguished(name []byte) string {
	var sets pkix.RDNSequence
	if _, err := asn1.Unmarshal(name, &sets); err != nil {
		return ""
	}
	var out strings.Builder
	for _, set := range sets {
		for _, part := range set {
			kind := part.Type.String()
			fmt.Fprintf(&out, "/%s=%v", cmp.Or(attributes[kind], kind), part.Value)
		}
	}
	text := out.String()
	return strings.ToValidUTF8(text[:min(len(text), 63)], "")
}

// attributes are the short names of RFC 4519 that certificates mostly have.
var attributes = map[string]string{"2.5.4.3": "CN", "2.5.4.5": "serialNumber", "2.5.4.6": "C",
	"2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.9": "street", "2.5.4.10": "O", "2.5.4.11": "OU",
	"2.5.4.17": "postalCode", "1.2.840.113549.1.9.1": "emailAddress"}
