package main

import (
	"crypto/x509"
	"os"
	"os/exec"
	"runtime"
	"testing"
)

// In an empty image https works: the program has the certificates of authorities. A
// process loads them once, so that another one has to look.
func TestAuthoritiesAreKnownWhereTheSystemHasNone(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("this system always has authorities")
	}
	if os.Getenv("SSL_CERT_FILE") != os.DevNull {
		look := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		look.Env = append(os.Environ(), "SSL_CERT_FILE="+os.DevNull, "SSL_CERT_DIR="+t.TempDir())
		if out, err := look.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		t.Fatal(err)
	}
	if pool.Equal(x509.NewCertPool()) {
		t.Error("no authority is known")
	}
}
