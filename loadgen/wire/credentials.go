package wire

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"
)

// Credentials are certificates for TLS that the system does not have. The zero value adds nothing.
type Credentials struct {
	Certificates []tls.Certificate // identify the client
	Authorities  *x509.CertPool    // trusted instead of the system's; nil for the system's
}

// CredentialFiles are the files of Credentials, in PEM format. An empty name means no file.
type CredentialFiles struct {
	Certificate string // the client's, with intermediate certificates
	Key         string // the certificate's key; empty if it is in the same file
	Authorities string // trusted certificates, instead of the system's
}

// Load reads the files.
func (f CredentialFiles) Load() (c Credentials, err error) {
	if f.Certificate != "" {
		key := f.Key
		if key == "" {
			key = f.Certificate
		}
		pair, err := tls.LoadX509KeyPair(f.Certificate, key)
		if err != nil {
			return c, fmt.Errorf("reading the certificate %s with the key %s: %w%s", f.Certificate, key, err, unlocking(key))
		}
		c.Certificates = []tls.Certificate{pair}
	}
	if f.Authorities != "" {
		text, err := os.ReadFile(f.Authorities)
		if err != nil {
			return c, err
		}
		c.Authorities = x509.NewCertPool()
		if !c.Authorities.AppendCertsFromPEM(text) {
			return c, fmt.Errorf("reading %s: there is no certificate in it in the PEM format", f.Authorities)
		}
	}
	return c, nil
}

// unlocking says what to do about a key with a password.
func unlocking(key string) string {
	text, err := os.ReadFile(key)
	if err != nil || !strings.Contains(string(text), "ENCRYPTED") {
		return ""
	}
	return ": the key has a password, which servebench cannot ask for: openssl pkey -in " + key +
		" -out FILE writes it without"
}
