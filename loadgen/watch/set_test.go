package watch

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/metrics/samples"
)

// saying is a sampler that takes a sample each second, with these errors, and then waits for its end.
func saying(errors ...string) Sampler {
	return func(ctx context.Context, epoch time.Time, take func(*samples.Sample)) {
		for _, text := range errors {
			time.Sleep(time.Second)
			take(&samples.Sample{At: time.Since(epoch), Error: text})
		}
		<-ctx.Done()
	}
}

func TestASetKeepsSamplesAndSaysWhatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Set{Mask: func(text string) string { return strings.ReplaceAll(text, "secret", "***") }}
		s.Add("a", saying("", "secret", "secret", ""))
		s.Add("b", saying(""))
		s.Start(time.Now())
		time.Sleep(1500 * time.Millisecond)
		if first := s.Drain(); len(first) != 2 || first[0].At != time.Second || s.Troubles() != nil {
			t.Errorf("%+v, %q", first, s.Troubles())
		}
		time.Sleep(3 * time.Second)
		s.Stop()
		// Of failures in a row the first is kept.
		if rest := s.Drain(); len(rest) != 2 || rest[0].Error != "***" || rest[1].Error != "" {
			t.Errorf("%+v", rest)
		}
		if said := s.Troubles(); !slices.Equal(said, []string{"a: 2 of 4 samples failed: ***"}) {
			t.Errorf("%q", said)
		}
		s.Stop()
		if !s.Has("b") || s.Has("c") || s.Drain() != nil {
			t.Error("it has another sampler, or drains twice")
		}
	})
}

func TestASetThatHasNotBegunIsEmpty(t *testing.T) {
	var s Set
	s.Add("a", saying("x"))
	if s.Stop(); s.Drain() != nil || s.Troubles() != nil {
		t.Error("it has samples")
	}
}
