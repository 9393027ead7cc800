package spans

import (
	"errors"
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

func TestParseReadsEachSpan(t *testing.T) {
	got, err := Parse("queue=1ms, prefill=2ms,front-end=3ms,network=400us,generation=5s")
	want := Added{Queue: ms, Prefill: 2 * ms, FrontEnd: 3 * ms, Network: 400 * time.Microsecond, Generation: 5 * time.Second}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, name := range Names {
		if _, err := Parse(name + "=1ms"); err != nil {
			t.Error(err)
		}
	}
}

func TestParseRefusesWhatIsNoSpan(t *testing.T) {
	for text, want := range map[string]string{
		"":                    `"" is no span: it must be queue, prefill, front-end, network, generation`,
		"decode=5ms":          `"decode" is no span`,
		"queue":               `span queue: "" must be a time that is not negative, as in queue=5ms`,
		"queue=5":             `span queue: "5" must be a time`,
		"queue=1ms,network=x": `span network: "x" must be a time`,
		"prefill=-1ms":        `span prefill: "-1ms" must be a time that is not negative`,
	} {
		if a, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) || a != (Added{}) {
			t.Errorf("%q: got %+v, %v, want an error with %s", text, a, err, want)
		}
	}
}

func TestGenerationIsSpreadOverTheTokens(t *testing.T) {
	a := Added{Queue: ms, Prefill: 2 * ms, FrontEnd: 100 * ms, Network: 100 * ms, Generation: 8 * ms}
	for i, want := range []time.Duration{3 * ms, 5 * ms, 7 * ms, 9 * ms, 11 * ms} {
		if got := a.Token(i, 5); got != want {
			t.Errorf("token %d of 5 appears %v later, want %v", i, got, want)
		}
	}
	if got := a.Token(0, 1); got != 3*ms {
		t.Errorf("the only token appears %v later, want 3ms", got)
	}
}

func TestLogKeepsItsFirstError(t *testing.T) {
	full := errors.New("full")
	l := NewLog(failing{full})
	l.Add(Request{})
	l.Add(Request{})
	if l.Err() != full {
		t.Errorf("the error is %v, want full", l.Err())
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// The first token of an answer that is not streamed waits for the last.
func TestFrontEndOfAWholeAnswer(t *testing.T) {
	received := time.Now()
	at := func(d time.Duration) time.Time { return received.Add(d) }
	r := Request{Received: received, Queued: at(2 * ms), FirstToken: at(20 * ms), LastToken: at(90 * ms), Wrote: at(91 * ms)}
	if got := r.frontEnd(); got != 73*ms {
		t.Errorf("the front end of a stream took %v, want 73ms", got)
	}
	r.Whole = true
	if got := r.generation(); got != 70*ms {
		t.Errorf("generating a whole answer took %v, want 70ms", got)
	}
	if got := r.frontEnd(); got != 3*ms {
		t.Errorf("the front end of a whole answer took %v, want 3ms", got)
	}
}
