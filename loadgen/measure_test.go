package loadgen

import (
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/watch/sources"
	"github.com/servebench/servebench/metrics/record"
)

// What a server says may hold what it was sent.
func TestRecordsHideSecrets(t *testing.T) {
	m := unreached(&Plan{Server: Server{Secrets: keys("token-1")}}, 1)
	rec := &record.Record{Run: m.header.Run}
	rec.Result.Error, rec.Answer.Text, rec.Answer.Finish = "no access for token-1", "token-1 is it", "token-1"
	var records iter.Seq2[*record.Record, error] = func(yield func(*record.Record, error) bool) { yield(rec, nil) }
	s := &measure{targets: []*measurement{m}, gpus: new(sources.GPUs)}
	if err := s.take(records); err != nil {
		t.Fatal(err)
	}
	if rec.Result.Error != "no access for <redacted>" || rec.Answer.Text != "<redacted> is it" || rec.Answer.Finish != "<redacted>" {
		t.Errorf("the record has %q, %q and %q", rec.Result.Error, rec.Answer.Text, rec.Answer.Finish)
	}
}

// A load that ends early says so, and keeps what came before.
func TestAFailureOfTheLoadEndsIt(t *testing.T) {
	m := unreached(new(Plan), 2)
	broken := errors.New("line 3 is bad")
	var records iter.Seq2[*record.Record, error] = func(yield func(*record.Record, error) bool) {
		_ = yield(&record.Record{Run: m.header.Run}, nil) && yield(nil, broken)
	}
	err := (&measure{targets: []*measurement{m}, gpus: new(sources.GPUs)}).take(records)
	if _, failed := errors.AsType[*FailedError](err); !failed || !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if s := m.numbers.collector.Summary(1); s.Completed+s.Failed != 1 {
		t.Errorf("%d requests were collected", s.Completed+s.Failed)
	}
}

// The progress of a load goes on until the last target is done.
func TestALoadLastsAsLongAsItsLongestTarget(t *testing.T) {
	early, late := unreached(&Plan{Traffic: Traffic{Duration: 3 * time.Second}}, 5), unreached(&Plan{Traffic: Traffic{Duration: 9 * time.Second, WarmUp: time.Second}}, 7)
	l := (&measure{targets: []*measurement{early, late, unreached(new(Plan), 1)}}).loading()
	if l.Until != 10*time.Second || l.Began != 0 || len(l.Loads) != 3 {
		t.Errorf("until %v, began %v, %d targets", l.Until, l.Began, len(l.Loads))
	}
}
