package stream

import (
	"hash/maphash"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/metrics/record"
)

// The line of a usual request, as in the documentation.
func TestTheUsualIsLeftOut(t *testing.T) {
	r := arrived(record.Record{
		Index: 138, ID: "bench-241faa97-138", Attempts: 1, Times: record.Times{Due: 50 * msec, Slot: 80 * msec, Sent: 81 * msec, Wrote: 81*msec + 25600,
			FirstByte: 95 * msec, FirstContent: 96 * msec, End: 98*msec + 1}, Tokens: record.Tokens{In: 16, InAsked: 16, Out: 1, OutAsked: 1}, Answer: record.Answer{Finish: "length"}, Result: record.Result{Status: 200},
	}, 96)
	const want = `{"v":3,"k":"req","run":"a","i":138,"id":"bench-241faa97-138","sent":81000000,"lag":1000000,"queue":30000000,` +
		`"wrote":25600,"first_byte":14000000,"chunks":1,"first":15000000,"end":17000001,"in":16,"out":1,"finish":"length"}` + "\n"
	if got := appendRequest(nil, lineHead{V: streamVersion, Kind: kindReq, Run: "a"}, r); string(got) != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}

// The line of a later turn of a session, as in the documentation.
func TestALineHasTheStep(t *testing.T) {
	r := arrived(record.Record{
		Index: 4, Turn: 2, ID: "bench-4-t2", Attempts: 1,
		Session: &record.Turn{
			ID: "chat-4", Turns: 6, Waits: []int{0, 1}, Ready: 5 * time.Second, Gap: 2 * time.Second, At: new(6 * time.Second),
			Took: time.Second, SessionSlot: time.Second, History: 700, Reusable: 720,
		}, Times: record.Times{Due: 7 * time.Second, Slot: 7 * time.Second, Sent: 7*time.Second + 1000, End: 8 * time.Second, FirstContent: 8 * time.Second},
		Tokens: record.Tokens{In: 900, InAsked: 900, Cached: 640, Out: 1, OutAsked: 1}, Result: record.Result{Status: 200},
	}, 8000)
	const want = `{"v":3,"k":"req","run":"a","i":4,"turn":2,"id":"bench-4-t2","sent":7000001000,"lag":1000,"step":{"session":"chat-4","turns":6,` +
		`"waits":[0,1],"gap":2000000000,"at":-1000001000,"took":1000000000,"session_slot":-6000001000,"history":700,"reusable":720},` +
		`"chunks":1,"first":999999000,"end":999999000,"in":900,"cached":640,"out":1}` + "\n"
	if got := appendRequest(nil, lineHead{V: streamVersion, Kind: kindReq, Run: "a"}, r); string(got) != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	p := newParser(maphash.MakeSeed(), false)
	p.begin(1)
	if _, got := p.request([]byte(want[:len(want)-1])); got == nil || !cmp.Equal(r.Session, got.Session) {
		t.Errorf("read as %+v", got)
	}
}

func TestALineOfARequestIsNotAllocated(t *testing.T) {
	r, line := testRecord("r", 7, 500), make([]byte, 0, 64<<10)
	r.Answer.Text = ""
	r.Answer.Late.Add(3, 7*msec)
	r.Session = &record.Turn{ID: "s", Turns: 3, Waits: []int{0, 1}, At: new(msec), SessionSlot: msec}
	if n := testing.AllocsPerRun(100, func() { line = appendRequest(line[:0], lineHead{V: streamVersion, Kind: kindReq, Run: "r"}, r) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkWrite(b *testing.B) {
	r := testRecord("r", 7, 1)
	r.Answer.Text = ""
	var line []byte
	b.ReportAllocs()
	for b.Loop() {
		line = appendRequest(line[:0], lineHead{V: streamVersion, Kind: kindReq, Run: "b9d96ec93f826220"}, r)
	}
	b.ReportMetric(float64(len(line)), "bytes")
}
