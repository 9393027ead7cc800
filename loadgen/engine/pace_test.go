package engine

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestPacerWaitsUntilDue(t *testing.T) {
	p, err := newPacer()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	due := time.Now().Add(3 * time.Millisecond)
	if err := p.Wait(t.Context(), due); err != nil || time.Now().Before(due) {
		t.Errorf("returned %v, %v before due", err, time.Until(due))
	}
	if err := p.Wait(t.Context(), due); err != nil {
		t.Errorf("a past due time: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	if err := p.Wait(ctx, time.Now().Add(time.Hour)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled wait returned %v", err)
	}
	// A wait that was cancelled leaves nothing behind.
	due = time.Now().Add(3 * time.Millisecond)
	if err := p.Wait(t.Context(), due); err != nil || time.Now().Before(due) {
		t.Errorf("after a cancelled wait: returned %v, %v before due", err, time.Until(due))
	}
}
