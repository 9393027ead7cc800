package speed_test

import (
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
)

func FuzzProfile(f *testing.F) {
	for _, name := range speed.Names() {
		text, err := speed.BuiltIn(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("like: mps-two\nhold: 1"))
	f.Add([]byte("a: &a [*a, *a]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p := new(speed.Profile)
		if err := p.Read("f", text); err != nil {
			if !strings.HasPrefix(err.Error(), "profile ") {
				t.Errorf("the error does not name the profile: %v", err)
			}
			return
		}
		s, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 100}, Profile: p})
		if err != nil && strings.HasPrefix(err.Error(), "max-num-batched-tokens") {
			return // too few for the batch, which is not the profile's alone to say
		}
		if err != nil {
			t.Fatalf("a profile that was read is refused: %v", err)
		}
		s.Close()
	})
}
