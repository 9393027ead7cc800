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
		Stop(&s)
		// Of failures in a row the first is kept.
		if rest := s.Drain(); len(rest) != 2 || rest[0].Error != "***" || rest[1].Error != "" {
			t.Errorf("%+v", rest)
		}
		if said := s.Troubles(); !slices.Equal(said, []string{"a: 2 of 4 samples failed: ***"}) {
			t.Errorf("%q", said)
		}
		Stop(&s)
		if !s.Has("b") || s.Has("c") || s.Drain() != nil {
			t.Error("it has another sampler, or drains twice")
		}
	})
}

func TestASetThatHasNotBegunIsEmpty(t *testing.T) {
	var s Set
	s.Add("a", saying("x"))
	if Stop(&s); s.Drain() != nil || s.Troubles() != nil {
		t.Error("it has samples")
	}
}

// A sampler's last look may take long, and no other sampler goes on meanwhile.
func TestAllSamplersEndAtOneMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slow, steady Set
		slow.Add("slow", func(ctx context.Context, _ time.Time, _ func(*samples.Sample)) {
			<-ctx.Done()
			time.Sleep(5 * time.Second)
		})
		steady.Add("steady", func(ctx context.Context, epoch time.Time, take func(*samples.Sample)) {
			for each := time.NewTicker(time.Second); ; {
				select {
				case <-ctx.Done():
					return
				case <-each.C:
					take(&samples.Sample{At: time.Since(epoch)})
				}
			}
		})
		slow.Start(time.Now())
		steady.Start(time.Now())
		time.Sleep(2500 * time.Millisecond)
		Stop(&slow, &steady)
		if got := steady.Drain(); len(got) != 2 {
			t.Errorf("%d samples in 2.5 s, and in the last look of another sampler", len(got))
		}
	})
}
