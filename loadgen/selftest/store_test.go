package selftest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/evidence"
)

func TestASelftestIsKeptForItsMachine(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	t.Setenv("AppData", home)
	if v, err := Stored("1.2.3"); v != nil || err != nil {
		t.Errorf("before the first: %v, %v", v, err)
	}
	here := NewResult("1.2.3")
	here.Rows = measured(true).Rows
	here.judge()
	if name, err := here.Store(); err != nil || filepath.Base(name) != "selftest.json" {
		t.Fatal(err)
	}
	silent := *here
	silent.Rows = here.Rows[1:2]
	if name, err := silent.Store(); err != nil || name != "" {
		t.Fatal(err)
	}
	if v, err := Stored("1.2.3"); err != nil || v == nil || *v != (evidence.Selftest{Streams: 1024, ErrorP99: 24 * time.Microsecond, WrongFrom: 2048, Kernel: true, PerCore: 108_108}) {
		t.Errorf("after a result and one that says nothing: %+v, %v", v, err)
	}
	untried := *here
	untried.Rows = slices.Clone(here.Rows[:1])
	untried.Rows[0].CPU = 12.5 // µs an event
	if _, err := untried.Store(); err != nil {
		t.Fatal(err)
	}
	if v, err := Stored("1.2.3"); err != nil || v == nil || v.Streams != 64 || v.WrongFrom != 0 || v.PerCore != 80_000 {
		t.Errorf("after one that went to 64 streams: %+v, %v", v, err)
	}
	wrong := *here
	wrong.Rows = here.Rows[3:4]
	if _, err := wrong.Store(); err != nil {
		t.Fatal(err)
	}
	if v, err := Stored("1.2.3"); err != nil || v == nil || *v != (evidence.Selftest{WrongFrom: 2048, Kernel: true, PerCore: 108_108}) {
		t.Errorf("a machine that cannot be trusted: %+v, %v", v, err)
	}
	for _, change := range []func(r *Result){
		func(r *Result) { r.Host += "x" },
		func(r *Result) { r.Cores++ },
		func(r *Result) { r.Version += "x" },
		func(r *Result) { r.System = "plan9/mips" },
	} {
		other := *here
		change(&other)
		if _, err := other.Store(); err != nil {
			t.Fatal(err)
		}
		if v, err := Stored("1.2.3"); v != nil || err != nil {
			t.Errorf("that of %s, %d cores, %s: %v, %v", other.Host, other.Cores, other.Version, v, err)
		}
	}
	name, err := file()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Stored("1.2.3"); err == nil {
		t.Error("half a file is read")
	}
}
