package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"
)

// A lock says how a server identifies itself.
type lock struct {
	site
	address string // address in its certificate, 127.0.0.1 if empty
	unknown bool   // the client does not know its authority
	scheme  string // https if empty
}

// tlsCases have nginx speak TLS before the simulator.
func tlsCases() []*Case {
	const known = "`SSL_CERT_FILE=authority.pem`"
	locked := func(how string, l lock, c Case) *Case {
		c.Group, c.How, c.Needs = "TLS and HTTP/2: nginx", how, []string{"nginx"}
		c.Make = l.open
		return &c
	}
	begins := Want{Exit: 1, Unsent: requests}
	// With buffering on, nginx may hold back a short answer until it fills a TLS record.
	const unbuffered = "proxy_buffering off; "
	tls, h2 := site{listen: "ssl", server: unbuffered}, site{listen: "ssl http2", server: unbuffered}
	return []*Case{
		locked(known, lock{site: tls}, Case{Fault: "a certificate by a known authority",
			Args: []string{"--warm-connections"}}),
		locked("`listen … ssl`", lock{site: tls, unknown: true},
			Case{Fault: "a certificate by an unknown authority", Want: begins}),
		locked("`listen … ssl`", lock{site: tls, unknown: true},
			Case{Fault: "likewise, without verification", Args: []string{"--insecure", "--warm-connections"},
				Lost: "only the certainty about who answers",
				Want: Want{Says: "nobody verified the server's TLS certificate (--insecure): what answered may be anybody"}}),
		locked(known, lock{site: tls, address: "192.0.2.1"}, Case{Fault: "a certificate of another host", Want: begins}),
		locked("`--base-url https://…` of a server that speaks HTTP", lock{},
			Case{Fault: "no TLS, but the client expects it", Want: begins}),
		locked("`--base-url http://…` of a server that speaks TLS", lock{site: tls, scheme: "http"},
			Case{Fault: "TLS, but the client does not expect it", Want: begins}),
		locked(known, lock{site: h2}, Case{Fault: "HTTP/2", Args: []string{"--http2", "--warm-connections"},
			Lost: "the kernel's stamps: see [trust](../trust.md)"}),
	}
}

// open puts an nginx with the lock before a simulator.
func (l lock) open(s *Stage) (url string, err error) {
	if l.address == "" {
		l.address = "127.0.0.1"
	}
	if l.scheme == "" {
		l.scheme = "https"
	}
	authority, err := s.certify(net.ParseIP(l.address))
	if err != nil {
		return "", err
	}
	if !l.unknown {
		s.Env = append(s.Env, "SSL_CERT_FILE="+authority)
	}
	if l.listen != "" {
		l.server += "ssl_certificate server.pem; ssl_certificate_key server.pem;"
	}
	addr, err := s.nginx(l.site)
	return l.scheme + "://" + addr, err
}

// certify makes an authority and, in server.pem, a key with a certificate for the address. It
// returns the path of the authority's certificate.
func (s *Stage) certify(address net.IP) (authority string, err error) {
	begin := time.Now().Add(-time.Hour)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of the fault table"},
		NotBefore: begin, NotAfter: begin.AddDate(1, 0, 0), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	root, err := x509.CreateCertificate(rand.Reader, template, template, &signer.PublicKey, signer)
	if err != nil {
		return "", err
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: begin, NotAfter: template.NotAfter, IPAddresses: []net.IP{address},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	server, err := x509.CreateCertificate(rand.Reader, leaf, template, &key.PublicKey, signer)
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", err
	}
	if _, err := s.write("server.pem", block("CERTIFICATE", server)+block("PRIVATE KEY", der)); err != nil {
		return "", err
	}
	return s.write("authority.pem", block("CERTIFICATE", root))
}

func block(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}
