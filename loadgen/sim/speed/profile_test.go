package speed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestBuiltInProfilesAreWhole(t *testing.T) {
	if len(Names()) == 0 {
		t.Fatal("there are none")
	}
	for _, name := range Names() {
		p, err := Open(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if p.About == "" || p.Step.Base == 0 || p.MaxNumSeqs == 0 || p.MaxNumBatchedTokens == 0 {
			t.Errorf("%s lacks something: %+v", name, p)
		}
	}
}

func TestProfileTakesFromTheOneItIsLike(t *testing.T) {
	name := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(name, []byte("like: sweep-80\nstep: {base: 10ms}\nhold: 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if p.Step.Base != 10*time.Millisecond || p.Hold != 0 || p.Like != "sweep-80" {
		t.Errorf("its own values are %v, %d, %q", p.Step.Base, p.Hold, p.Like)
	}
	if p.Step.PerPromptToken != 716*time.Microsecond || len(p.Step.Knots) != 5 || p.OutputLen.High != 110 {
		t.Errorf("not taken over: %+v", p)
	}
}

func TestProfileRefusesWhatItDoesNotMean(t *testing.T) {
	for text, want := range map[string]string{
		"bse: 1ms":                      "line 1: field bse not found",
		"step: {base: soon}":            "line 1: cannot unmarshal",
		"step: {base: -1ms}":            "must not be negative",
		"step: {overlap: 2}":            "overlap",
		"step: {jitter: .nan}":          "jitter",
		"like: nobody":                  "no other built-in profile nobody",
		"stalls: {probability: 7}":      "probability of stalls",
		"spells: {per-second: .inf}":    "spells",
		"hold: 1":                       "hold",
		"output-len: {median: 3}":       "need high",
		"output-len: {low: 1, high: 9}": "either median and sigma or mean and sd",
		"step: {knots: [{requests: 9, time: 2ms}, {requests: 8, time: 3ms}]}": "ascend",
	} {
		name := filepath.Join(t.TempDir(), "p.yaml")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", text, err, want)
		}
	}
	if _, err := Open("nowhere"); err == nil || !strings.Contains(err.Error(), "mps-solo") {
		t.Errorf("an unknown name: %v, want the names that there are", err)
	}
}
