// Package retime changes when the conversations of a Source are sent. Each function yields copies and
// leaves its Source as it is.
package retime

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/servebench/servebench/dataset"
)

// Speed is src at another speed: times, gaps and recorded durations are divided by factor, which
// must be above 0.
func Speed(src dataset.Source, factor float64) dataset.Source {
	return retimed(src, func(c *dataset.Conversation) {
		if c.Due != nil {
			c.Due = new(*c.Due / factor)
		}
		for i := range c.Turns {
			turn := &c.Turns[i]
			turn.Gap /= factor
			turn.Took /= factor
			if turn.At != nil {
				turn.At = new(*turn.At / factor)
			}
		}
	})
}

// GapCap is src with gaps of at most limit. What follows a gap that it cuts comes earlier by as much
// in the recording, too. Each time src has ended it tells taken, which may be nil, how much time all
// gaps have lost.
func GapCap(src dataset.Source, limit time.Duration, taken func(total time.Duration)) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		var total time.Duration
		for c, err := range retimed(src, func(c *dataset.Conversation) { total += capGaps(c, limit.Seconds()) }) {
			if !yield(c, err) {
				return
			}
		}
		if taken != nil {
			taken(total)
		}
	}
}

// capGaps caps the gaps of c, and returns how much time they have lost.
func capGaps(c *dataset.Conversation, limit float64) (total time.Duration) {
	earlier := make([]float64, len(c.Turns)) // how much earlier a turn comes
	ends := make([]float64, len(c.Turns))    // of the recorded answers
	for i := range c.Turns {
		turn := &c.Turns[i]
		ready := 0.0
		if c.Due != nil {
			ready = *c.Due
		}
		for k, wait := range c.WaitsOf(i) {
			if end := ends[wait.Turn]; k == 0 || end >= ready {
				ready, earlier[i] = end, earlier[wait.Turn]
			}
		}
		ends[i] = ready + turn.Gap + turn.Took
		if turn.At != nil {
			ends[i] = *turn.At + turn.Took
		}
		if cut := turn.Gap - limit; cut > 0 {
			turn.Gap = limit
			earlier[i] += cut
			total += dataset.Seconds(cut)
		}
		if turn.At != nil && earlier[i] > 0 {
			turn.At = new(*turn.At - earlier[i])
		}
	}
	return total
}

// Untimed is src without its due times. The times in the recording then count from the start of each
// conversation.
func Untimed(src dataset.Source) dataset.Source {
	return retimed(src, func(c *dataset.Conversation) {
		if c.Due == nil {
			return
		}
		for i := range c.Turns {
			if at := c.Turns[i].At; at != nil {
				c.Turns[i].At = new(*at - *c.Due)
			}
		}
		c.Due = nil
	})
}

// retimed is src with other times. It calls change for copies of the conversations.
func retimed(src dataset.Source, change func(c *dataset.Conversation)) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		for c, err := range src {
			if err == nil {
				changed := *c
				changed.Turns = slices.Clone(c.Turns)
				change(&changed)
				c = &changed
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// Window is the conversations of src that start from the time from on and before the time to, where
// 0 or less is no end. The times that it yields count from the time from. It pulls all of src once,
// and returns how many conversations it keeps and how many it leaves out.
func Window(src dataset.Source, from, to time.Duration) (windowed dataset.Source, kept, left int, err error) {
	within := func(c *dataset.Conversation) bool {
		due := dataset.Seconds(*c.Due)
		return due >= from && (to <= 0 || due < to)
	}
	for c, err := range src {
		switch {
		case err != nil:
			return nil, 0, 0, err
		case c.Due == nil:
			return nil, 0, 0, errors.New("the dataset has no times, so there is no part of it from one time to another")
		case within(c):
			kept++
		default:
			left++
		}
	}
	if kept == 0 {
		return nil, 0, left, fmt.Errorf("none of its %d sessions starts then", left)
	}
	windowed = func(yield func(*dataset.Conversation, error) bool) {
		pulled := 0
		for c, err := range src {
			if err == nil && !within(c) {
				continue
			}
			if pulled++; !yield(c, err) || pulled == kept {
				return
			}
		}
	}
	return retimed(windowed, func(c *dataset.Conversation) {
		c.Due = new(*c.Due - from.Seconds())
		for i := range c.Turns {
			if at := c.Turns[i].At; at != nil {
				c.Turns[i].At = new(*at - from.Seconds())
			}
		}
	}), kept, left, nil
}
