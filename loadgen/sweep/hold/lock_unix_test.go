//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package hold_test

import (
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/sweep/hold"
)

func TestTwoKeepersDoNotShareAFolder(t *testing.T) {
	dir := t.TempDir()
	first, err := hold.Open(t.Context(), dir, 0, func() { t.Error("it waits for nobody") })
	if err != nil {
		t.Fatal(err)
	}
	waited := 0
	_, err = hold.Open(t.Context(), dir, 0, func() { waited++ })
	if err == nil || !strings.Contains(err.Error(), dir+": another sweep is running there") || waited != 1 {
		t.Errorf("%v after it waited %d times", err, waited)
	}
	next, err := hold.Open(t.Context(), dir, time.Hour, func() { first.Close() })
	if err != nil {
		t.Fatal(err)
	}
	next.Close()
}
