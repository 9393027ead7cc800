package retime

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset"
)

// jobs is a Source of sessions that start each second: a turn that takes 2 s, after 100 s one that
// takes 1 s, and one that waits for both and 10 s more. The first has a gap of 0.5 s.
func jobs(n int) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		for i := range n {
			due := float64(i)
			c := &dataset.Conversation{ID: fmt.Sprint(i), Due: &due, Turns: []dataset.Turn{
				{Gap: 0.5, At: new(due + 0.5), Took: 2},
				{Gap: 100, At: new(due + 102.5), Took: 1},
				{Gap: 10, At: new(due + 113.5), Waits: []dataset.Wait{{Turn: 1, History: dataset.Nothing}, {Turn: 0, History: dataset.Nothing}}},
				{Gap: 20, Waits: []dataset.Wait{{Turn: 2, History: dataset.Nothing}}},
			}}
			if !yield(c, nil) {
				return
			}
		}
	}
}

// times are those in a Source, in words.
func times(t *testing.T, src dataset.Source) (list []string) {
	t.Helper()
	for c, err := range src {
		if err != nil {
			t.Fatal(err)
		}
		text := c.ID + ":"
		if c.Due != nil {
			text += fmt.Sprint(" due ", *c.Due)
		}
		for _, turn := range c.Turns {
			text += fmt.Sprint(", ", turn.Gap)
			if turn.At != nil {
				text += fmt.Sprint(" at ", *turn.At)
			}
			if turn.Took > 0 {
				text += fmt.Sprint(" took ", turn.Took)
			}
		}
		list = append(list, text)
	}
	return list
}

func TestStagesChangeTimes(t *testing.T) {
	before := times(t, jobs(2))
	var taken []time.Duration
	said := func(total time.Duration) { taken = append(taken, total) }
	windowed, kept, left, err := Window(jobs(5), time.Second, 3*time.Second)
	if err != nil || kept != 2 || left != 3 {
		t.Fatal(kept, left, err)
	}
	for _, row := range []struct {
		source dataset.Source
		want   []string
	}{
		{Speed(jobs(2), 2), []string{
			"0: due 0, 0.25 at 0.25 took 1, 50 at 51.25 took 0.5, 5 at 56.75, 10",
			"1: due 0.5, 0.25 at 0.75 took 1, 50 at 51.75 took 0.5, 5 at 57.25, 10"}},
		{GapCap(jobs(2), 15*time.Second, said), []string{
			"0: due 0, 0.5 at 0.5 took 2, 15 at 17.5 took 1, 10 at 28.5, 15",
			"1: due 1, 0.5 at 1.5 took 2, 15 at 18.5 took 1, 10 at 29.5, 15"}},
		{GapCap(jobs(1), 0, nil), []string{"0: due 0, 0 at 0 took 2, 0 at 2 took 1, 0 at 3, 0"}},
		{windowed, []string{
			"1: due 0, 0.5 at 0.5 took 2, 100 at 102.5 took 1, 10 at 113.5, 20",
			"2: due 1, 0.5 at 1.5 took 2, 100 at 103.5 took 1, 10 at 114.5, 20"}},
		{Untimed(windowed), []string{
			"1:, 0.5 at 0.5 took 2, 100 at 102.5 took 1, 10 at 113.5, 20",
			"2:, 0.5 at 0.5 took 2, 100 at 102.5 took 1, 10 at 113.5, 20"}},
		{jobs(2), before},
	} {
		for range 2 {
			if got := times(t, row.source); !slices.Equal(got, row.want) {
				t.Errorf("%q\nwant %q", got, row.want)
			}
		}
	}
	if want := []time.Duration{180 * time.Second, 180 * time.Second}; !slices.Equal(taken, want) {
		t.Errorf("gaps lost %v, want %v", taken, want)
	}
}

func TestWindowIsOfTheTimesOfSessions(t *testing.T) {
	rest, kept, left, err := Window(jobs(5), 3*time.Second, 0)
	if err != nil || kept != 2 || left != 3 || !strings.HasPrefix(times(t, rest)[1], "4: due 1,") {
		t.Errorf("%d kept, %d left out, %v", kept, left, err)
	}
	broken := errors.New("broken")
	for want, src := range map[string]dataset.Source{
		"the dataset has no times": Untimed(jobs(1)),
		"none of its 5 sessions":   jobs(5),
		"broken":                   func(yield func(*dataset.Conversation, error) bool) { yield(nil, broken) },
	} {
		if _, _, _, err := Window(src, 5*time.Second, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	// An error after the window was opened reaches the caller.
	fails := false
	src := func(yield func(*dataset.Conversation, error) bool) {
		for c := range jobs(2) {
			if fails {
				yield(nil, broken)
				return
			}
			if !yield(c, nil) {
				return
			}
		}
	}
	windowed, _, _, err := Window(src, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	fails = true
	for _, err := range windowed {
		if err != broken {
			t.Errorf("error %v", err)
		}
	}
}

func TestStoppedCapTellsNothing(t *testing.T) {
	for range GapCap(jobs(2), 0, func(time.Duration) { t.Error("the source has not ended") }) {
		break
	}
}

func TestUntimedForgetsTimes(t *testing.T) {
	due := 1.5
	timed := func(yield func(*dataset.Conversation, error) bool) {
		yield(&dataset.Conversation{ID: "a", Due: &due}, nil)
	}
	for c, err := range Untimed(timed) {
		if err != nil || c.ID != "a" || c.Due != nil {
			t.Errorf("got %+v, %v", c, err)
		}
	}
	for c := range timed {
		if c.Due == nil {
			t.Error("the source itself was changed")
		}
	}
}
