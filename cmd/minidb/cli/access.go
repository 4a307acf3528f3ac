package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/minidb/minidb"
)

// accessOptions are the flags of serve that say which clients may come in.
type accessOptions struct {
	hba, passwordFile        string
	cert, key, clientCA      string
	selfSigned, listensWider bool
	data                     string // "" in memory
}

func (o *accessOptions) flags(fs *flag.FlagSet) {
	fs.StringVar(&o.hba, "hba", "",
		"who may come in, as PostgreSQL's pg_hba.conf (default: hba.conf of the data directory, "+
			"written when it is missing)")
	fs.StringVar(&o.passwordFile, "password-file", "",
		"file with the password of the user postgres, set when it has none yet; every client must "+
			"know one then")
	fs.StringVar(&o.cert, "tls-cert", "", "certificate chain of the server, in PEM")
	fs.StringVar(&o.key, "tls-key", "", "its private key, in PEM, that only its owner may read")
	fs.StringVar(&o.clientCA, "tls-client-ca", "",
		"certificates of the authorities that sign those of clients, in PEM")
	fs.BoolVar(&o.selfSigned, "self-signed", false,
		"make a certificate when there is none: server.crt and server.key in the data directory")
}

func (o *accessOptions) check() error {
	switch {
	case (o.cert == "") != (o.key == ""):
		return usageError("--tls-cert and --tls-key belong together")
	case o.cert != "" && o.selfSigned:
		return usageError("--self-signed makes a certificate: --tls-cert names one")
	case o.clientCA != "" && o.cert == "" && !o.selfSigned:
		return usageError("--tls-client-ca needs --tls-cert and --tls-key, or --self-signed")
	}
	return nil
}

// guard sets the password of --password-file and decides which clients may come in. It does so
// again at each SIGHUP until ctx ends; what cannot be read then leaves all as it was.
func (o *accessOptions) guard(ctx context.Context, db *minidb.DB, logger *slog.Logger) error {
	if err := o.setPassword(ctx, db); err != nil {
		return err
	}
	if err := o.apply(ctx, db); err != nil {
		return err
	}
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGHUP)
	go func() {
		defer signal.Stop(again)
		for {
			select {
			case <-ctx.Done():
				return
			case <-again:
			}
			if err := o.apply(ctx, db); err != nil {
				logger.Error("who may come in stays as it was", "error", err)
				continue
			}
			logger.Info("rules of access and certificates were read again")
		}
	}()
	return nil
}

// apply reads rules and certificates, and puts them in force.
func (o *accessOptions) apply(ctx context.Context, db *minidb.DB) error {
	rules, name, err := o.rules(ctx, db)
	if err != nil {
		return err
	}
	config, err := o.tls()
	if err != nil {
		return err
	}
	if err := db.SetAccess(minidb.Access{HBA: rules, TLS: config}); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// setPassword gives postgres the password of the file, unless it has one.
func (o *accessOptions) setPassword(ctx context.Context, db *minidb.DB) error {
	if o.passwordFile == "" {
		return nil
	}
	text, err := os.ReadFile(o.passwordFile)
	if err != nil {
		return err
	}
	password := strings.TrimRight(string(text), "\r\n")
	if password == "" {
		return fmt.Errorf("%s: the password is empty", o.passwordFile)
	}
	if has, err := db.HasPasswords(ctx); err != nil || has {
		return err
	}
	quoted := strings.ReplaceAll(password, "'", "''")
	quoted = strings.ReplaceAll(quoted, `\`, `\\`)
	_, err = db.Exec(ctx, "ALTER ROLE postgres PASSWORD E'"+quoted+"'")
	return err
}

// Rules for a directory whose owner has set no file. The comment goes into the file that is
// written.
const (
	rulesHead = `# Who may connect, from where and how: the form of PostgreSQL's pg_hba.conf.
# The first line that fits a connection decides; none that fits refuses it.
# After a change: kill -HUP of the server.
#
# type     database  user  address        method
`
	trustLoopback = `host       all       all   127.0.0.0/8    trust
host       all       all   ::1/128        trust
`
	askLoopback = `host       all       all   127.0.0.0/8    scram-sha-256
host       all       all   ::1/128        scram-sha-256
`
	askOthers = `hostssl    all       all   all            scram-sha-256
`
)

// rules returns the text of the rules and the name of their file. A directory without a file gets
// one: clients of this machine come in without a password as long as there are none, others never
// without a password and TLS.
func (o *accessOptions) rules(ctx context.Context, db *minidb.DB) (text, name string, err error) {
	name = o.hba
	if name == "" && o.data != "" {
		name = filepath.Join(o.data, "hba.conf")
	}
	if name != "" {
		b, err := os.ReadFile(name)
		if err == nil || o.hba != "" || !errors.Is(err, fs.ErrNotExist) {
			return string(b), name, err
		}
	}
	has, err := db.HasPasswords(ctx)
	if err != nil {
		return "", name, err
	}
	text = rulesHead + trustLoopback + askOthers
	if has {
		text = rulesHead + askLoopback + askOthers
	}
	if name == "" {
		return text, "rules", nil
	}
	return text, name, os.WriteFile(name, []byte(text), 0o600)
}

// tls reads the certificates; nil when there are none.
func (o *accessOptions) tls() (*tls.Config, error) {
	cert, err := o.certificate()
	if err != nil || cert == nil {
		return nil, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{*cert}, MinVersion: tls.VersionTLS12}
	if o.clientCA == "" {
		return config, nil
	}
	config.ClientCAs, err = authorities(o.clientCA)
	return config, err
}

// authorities reads the certificates of a file in PEM.
func authorities(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate in PEM", path)
	}
	return pool, nil
}

// certificate is the one that is named, or that of the directory, which --self-signed and
// --password-file make where clients of other machines could come.
func (o *accessOptions) certificate() (*tls.Certificate, error) {
	if o.cert != "" {
		return readCertificate(o.cert, o.key)
	}
	wanted := o.selfSigned || o.passwordFile != "" && o.listensWider
	if o.data == "" {
		if !wanted {
			return nil, nil
		}
		certPEM, keyPEM, err := selfSigned()
		if err != nil {
			return nil, err
		}
		cert, err := tls.X509KeyPair(certPEM, keyPEM)
		return &cert, err
	}
	certFile, keyFile := o.directoryCertificate()
	if _, err := os.Stat(certFile); errors.Is(err, fs.ErrNotExist) {
		if !wanted {
			return nil, nil
		}
		if err := writeSelfSigned(certFile, keyFile); err != nil {
			return nil, err
		}
	}
	return readCertificate(certFile, keyFile)
}

func (o *accessOptions) directoryCertificate() (cert, key string) {
	return filepath.Join(o.data, "server.crt"), filepath.Join(o.data, "server.key")
}

// readCertificate reads a certificate and its key, which only its owner may read.
func readCertificate(certFile, keyFile string) (*tls.Certificate, error) {
	info, err := os.Stat(keyFile)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("private key file %s has group or world access; chmod 0600 %s",
			keyFile, keyFile)
	}
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", certFile, keyFile, err)
	}
	return &cert, nil
}

// adviseOthers says what clients of other machines lack when the server listens to them.
func (o *accessOptions) adviseOthers(ctx context.Context, db *minidb.DB, logger *slog.Logger) {
	if !o.listensWider || o.hba != "" {
		return
	}
	if has, err := db.HasPasswords(ctx); err == nil && !has {
		logger.Warn("clients of other machines need a password, and there is none yet: " +
			"--password-file sets that of postgres")
	}
	if cert, err := o.certificate(); err == nil && cert == nil {
		logger.Warn("clients of other machines need TLS, and there is no certificate: " +
			"--self-signed makes one, --tls-cert and --tls-key name one")
	}
}

// greeting is the ready line: how to connect.
func (o *accessOptions) greeting(addr *net.TCPAddr) string {
	line := fmt.Sprintf("minidb is ready: psql -h %s -p %d -U postgres postgres",
		reachable(addr), addr.Port)
	certFile, _ := o.directoryCertificate()
	if o.data == "" || o.cert != "" {
		return line
	}
	if _, err := os.Stat(certFile); err != nil {
		return line
	}
	if abs, err := filepath.Abs(certFile); err == nil {
		certFile = abs
	}
	return line + fmt.Sprintf("\nclients of other machines check its certificate with a copy of "+
		"%s: psql \"host=HOST port=%d user=postgres dbname=postgres sslmode=verify-ca "+
		"sslrootcert=server.crt\"", certFile, addr.Port)
}
