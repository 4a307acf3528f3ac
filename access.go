package minidb

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/minidb/minidb/sql/pgwire"
	"github.com/minidb/minidb/sql/pgwire/hba"
)

// Access is which clients may come in over [DB.Serve], and how connections are encrypted.
type Access struct {
	// HBA has the rules, in the form of PostgreSQL's pg_hba.conf: types local, host, hostssl and
	// hostnossl, methods trust, reject, scram-sha-256 and cert. The first rule that fits decides.
	HBA string
	// TLS encrypts the connections whose clients ask for it; nil: none. It needs certificates, or
	// GetCertificate; versions before 1.2 are never spoken.
	TLS *tls.Config
}

// SetAccess replaces which clients may come in: for connections that come from now on. Without it
// clients of this machine come in without a password, and no others. Its error names the line of
// the rules that is wrong; then nothing has changed.
func (db *DB) SetAccess(a Access) error {
	rules, err := hba.Parse(a.HBA)
	if err != nil {
		return fmt.Errorf("minidb: rules of access: %w", err)
	}
	config, err := serverTLS(a.TLS)
	if err != nil {
		return fmt.Errorf("minidb: %w", err)
	}
	secret, err := db.secret()
	if err != nil {
		return fmt.Errorf("minidb: %w", err)
	}
	db.server.SetAccess(pgwire.Access{Rules: rules, TLS: config, Secret: secret})
	return nil
}

// serverTLS is a configuration as the server needs it: at least TLS 1.2, with certificates that
// come through GetCertificate with their Leaf, to which clients bind their proofs.
func serverTLS(given *tls.Config) (*tls.Config, error) {
	if given == nil {
		return nil, nil
	}
	c := given.Clone()
	c.MinVersion = max(c.MinVersion, tls.VersionTLS12)
	if c.ClientCAs != nil && c.ClientAuth == tls.NoClientCert {
		c.ClientAuth = tls.VerifyClientCertIfGiven
	}
	choose := c.GetCertificate
	if choose == nil {
		certs := c.Certificates
		if len(certs) == 0 {
			return nil, errors.New("the TLS configuration has no certificate")
		}
		choose = func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
			for i := range certs {
				if h.SupportsCertificate(&certs[i]) == nil {
					return &certs[i], nil
				}
			}
			return &certs[0], nil
		}
	}
	c.Certificates = nil
	c.GetCertificate = func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
		cert, err := choose(h)
		if err != nil || cert.Leaf != nil {
			return cert, err
		}
		with := *cert
		with.Leaf, err = x509.ParseCertificate(cert.Certificate[0])
		return &with, err
	}
	return c, nil
}

// secretFile is where a directory keeps its secret.
const secretFile = "secret"

// secret returns what the salts of unknown users are derived from: of the directory, so that they
// are the same after a start; of the process where there is no directory.
func (db *DB) secret() ([]byte, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.mu.secret != nil {
		return db.mu.secret, nil
	}
	made := make([]byte, 32)
	if _, err := rand.Read(made); err != nil {
		return nil, err
	}
	switch {
	case db.local == nil:
		kept, err := db.sharedSecret(context.Background(), made)
		if err != nil {
			return nil, err
		}
		made = kept
	case !db.opts.inMemory:
		path := filepath.Join(db.dir, secretFile)
		kept, err := os.ReadFile(path)
		switch {
		case err == nil && len(kept) >= 16:
			made = kept
		case err == nil || errors.Is(err, fs.ErrNotExist):
			err = os.WriteFile(path, made, 0o600)
		}
		if err != nil {
			return nil, err
		}
	}
	db.mu.secret = made
	return made, nil
}

// HasPasswords reports whether a role other than the bootstrap superuser postgres may log in, or
// postgres has a password. Without either no client could come in by rules that ask for one.
func (db *DB) HasPasswords(ctx context.Context) (bool, error) {
	l, err := db.sql.Login(ctx, "postgres")
	return !l.Open, err
}
