package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
)

func TestASelftestIsKeptForItsMachine(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	t.Setenv("AppData", home)
	if v, err := storedSelftest(); v != nil || err != nil {
		t.Errorf("before the first: %v, %v", v, err)
	}
	here := newSelftestResult()
	here.Rows = measured(true).Rows
	here.judge()
	if err := storeSelftest(here); err != nil {
		t.Fatal(err)
	}
	if v, err := storedSelftest(); err != nil || v == nil || *v != (metrics.Vouched{Streams: 1024, ErrorP99: 24 * time.Microsecond}) {
		t.Errorf("got %+v, %v", v, err)
	}
	wrong := *here
	wrong.Rows = here.Rows[3:4]
	if err := storeSelftest(&wrong); err != nil {
		t.Fatal(err)
	}
	if v, err := storedSelftest(); err != nil || v == nil || *v != (metrics.Vouched{}) {
		t.Errorf("a machine that cannot be trusted: %+v, %v", v, err)
	}
	for _, change := range []func(r *selftestResult){
		func(r *selftestResult) { r.Host += "x" },
		func(r *selftestResult) { r.Cores++ },
		func(r *selftestResult) { r.Version += "x" },
		func(r *selftestResult) { r.System = "plan9/mips" },
	} {
		other := *here
		change(&other)
		if err := storeSelftest(&other); err != nil {
			t.Fatal(err)
		}
		if v, err := storedSelftest(); v != nil || err != nil {
			t.Errorf("that of %s, %d cores, %s: %v, %v", other.Host, other.Cores, other.Version, v, err)
		}
	}
	name, err := selftestFile()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := storedSelftest(); err == nil {
		t.Error("half a file is read")
	}
}
