package exchange_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/record"
)

// An authority issues certificates.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// newAuthority is one with a certificate of its own, in the file ca.pem.
func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	template := &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.cert, a.key = a.issue("ca", template)
	return a
}

// issue makes a certificate in the file name.pem, with its key in name.key and both in
// name.both.
func (a *authority) issue(name string, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	template.SerialNumber, template.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	parent, by := a.cert, a.key
	if parent == nil {
		parent, by = template, key
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	if err != nil {
		a.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		a.t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
	for file, text := range map[string][]byte{name + ".pem": public, name + ".key": private, name + ".both": append(public, private...)} {
		if err := os.WriteFile(a.file(file), text, 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	return cert, key
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name) }

// TestClientAndServerShowTheirCertificates loads a server that trusts this authority's
// clients alone, with a certificate of the same authority, which no system trusts.
func TestClientAndServerShowTheirCertificates(t *testing.T) {
	a := newAuthority(t)
	cert, key := a.issue("server", &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}})
	a.issue("client", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	stranger := newAuthority(t)
	stranger.issue("client", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})

	server := httptest.NewUnstartedServer(http.HandlerFunc(streaming))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: key}},
		ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: x509.NewCertPool(),
	}
	server.TLS.ClientCAs.AddCert(a.cert)
	server.StartTLS()
	defer server.Close()
	for _, test := range []struct {
		name    string
		files   wire.CredentialFiles
		message string
	}{
		{"both", wire.CredentialFiles{Certificate: a.file("client.pem"), Key: a.file("client.key"), Authorities: a.file("ca.pem")}, ""},
		{"key in the same file", wire.CredentialFiles{Certificate: a.file("client.both"), Authorities: a.file("ca.pem")}, ""},
		{"no certificate", wire.CredentialFiles{Authorities: a.file("ca.pem")}, "remote error: tls: certificate required"},
		{"another authority's", wire.CredentialFiles{Certificate: stranger.file("client.pem"), Key: stranger.file("client.key"), Authorities: a.file("ca.pem")}, "remote error: tls: unknown certificate authority"},
		{"the system's authorities", wire.CredentialFiles{Certificate: a.file("client.pem"), Key: a.file("client.key")}, "the TLS handshake failed: tls: failed to verify certificate: x509: certificate signed by unknown authority"},
	} {
		for _, http2 := range []bool{false, true} {
			credentials, err := test.files.Load()
			if err != nil {
				t.Fatal(test.name, err)
			}
			transport := wire.Connections{NetHTTP: netHTTP, TLS: credentials, HTTP2: http2}.Transport()
			got, _ := ask(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: server.URL, Transport: transport})
			want := record.OK
			if test.message != "" {
				want = record.TLS
			}
			if strings.HasPrefix(test.message, "remote error") && (got.Class == record.Reset || http2 && got.Class == record.Truncated) {
				continue // the server's alert was lost: it closed the connection while we wrote
			}
			if got.Class != want || got.Error != test.message {
				t.Errorf("%s, HTTP/2 %t: %s, %q", test.name, http2, got.Class, got.Error)
			}
			transport.CloseIdleConnections()
		}
	}
}

func TestFilesThatHoldNoCredentials(t *testing.T) {
	a := newAuthority(t)
	a.issue("client", new(x509.Certificate))
	locked := "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"
	if err := os.WriteFile(a.file("locked.key"), []byte(locked), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		certificate, key, authorities string
		says                          []string
	}{
		{"none.pem", "client.key", "", []string{"none.pem: no such file"}},
		{"client.pem", "ca.key", "", []string{"client.pem with the key ", "ca.key: tls: private key does not match public key"}},
		{"client.key", "", "", []string{"client.key with the key ", "tls: failed to find certificate PEM data in certificate input"}},
		{"client.pem", "locked.key", "", []string{"the key has a password", "openssl pkey -in "}},
		{"", "", "none.pem", []string{"none.pem: no such file"}},
		{"", "", "ca.key", []string{"ca.key: there is no certificate in it in the PEM format"}},
	} {
		files := wire.CredentialFiles{Key: test.key}
		for name, file := range map[*string]string{&files.Certificate: test.certificate, &files.Key: test.key, &files.Authorities: test.authorities} {
			if file != "" {
				*name = a.file(file)
			}
		}
		_, err := files.Load()
		for _, text := range test.says {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%+v: %v; want %q", test, err, text)
			}
		}
	}
}
