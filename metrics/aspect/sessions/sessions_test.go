package sessions

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

const msec = time.Millisecond

// turn is a turn of a session with these times in milliseconds; its first chunk came at first, and
// its last at the end of the answer.
func turn(index, number, turns int, ready, gap, slot, sent, first, end int, waits ...int) *record.Record {
	r := &record.Record{
		Index: index, Turn: number,
		Session: &record.Turn{Turns: turns, Waits: waits, Ready: time.Duration(ready) * msec, Gap: time.Duration(gap) * msec}, Tokens: record.Tokens{In: 100 * (number + 1), InAsked: 100 * (number + 1), Out: 2, OutAsked: 2},
		Times: record.Times{Due: time.Duration(ready+gap) * msec, Slot: time.Duration(slot) * msec, Sent: time.Duration(sent) * msec, End: time.Duration(end) * msec},
	}
	r.Answer.Chunks.Append(time.Duration(first) * msec)
	r.Answer.Chunks.Append(r.Times.End)
	r.Times.Last, r.Times.FirstContent = r.Times.End, r.Answer.Chunks.First()
	return r
}

// tree is a job with a sub-agent that works meanwhile: turns 1 and 2 wait for turn 0, and turn 3
// waits for both.
func tree() []*record.Record {
	records := []*record.Record{
		turn(0, 0, 4, 0, 0, 10, 11, 111, 221),
		turn(0, 1, 4, 221, 50, 271, 272, 300, 400, 0),
		turn(0, 2, 4, 221, 0, 230, 230, 250, 900, 0),
		turn(0, 3, 4, 900, 100, 1000, 1001, 1101, 1201, 1, 2),
	}
	for i, r := range records {
		r.Session.SessionSlot = 4 * msec
		r.Session.At, r.Session.Took = new(time.Duration(100*i)*msec), 300*msec
	}
	records[1].Session.Tool = true
	records[3].Session.History, records[3].Tokens.In = 300, 410
	return records
}

func sessionsOf(t *testing.T, h *metrics.Header, seconds float64, records ...*record.Record) *Sessions {
	t.Helper()
	c := metrics.NewCollector(h, Kind)
	for _, r := range records {
		c.Add(r)
	}
	s := Of(c.Summary(seconds))
	if s == nil {
		t.Fatal("no sessions")
	}
	return s
}

// Between the end of an answer and ready, only we are late.
func TestALateReadyIsLag(t *testing.T) {
	s := sessionsOf(t, &metrics.Header{}, 1, turn(0, 0, 2, 0, 0, 0, 0, 10, 100), turn(0, 1, 2, 105, 0, 105, 106, 116, 126, 0))
	if want := (JobParts{Lag: 6 * msec, Prefill: 20 * msec, Decode: 100 * msec}); s.Parts != want {
		t.Errorf("parts %+v, want %+v", s.Parts, want)
	}
}

func TestAJobsPartsAddUpAlongItsCriticalPath(t *testing.T) {
	h := &metrics.Header{Config: metrics.Config{Goodput: []metrics.SLO{{Metric: metrics.JobSLO, Limit: 1201}, {Metric: "e2el", Limit: 1000}}}}
	s := sessionsOf(t, h, 2, tree()...)
	want := JobParts{Think: 100 * msec, SessionSlots: 4 * msec, Slots: 15 * msec, Lag: 2 * msec, Prefill: 220 * msec, Decode: 860 * msec}
	if s.Parts != want || s.Parts.Total() != 1201*msec || s.JobTime.Mean() != 1201 || s.MeanParts() != want {
		t.Errorf("parts %+v, together %v of %v ms", s.Parts, s.Parts.Total(), s.JobTime.Mean())
	}
	if s.Begun != 1 || s.Completed != 1 || s.Good != 1 || s.Goodput != 0.5 || s.Throughput != 0.5 || s.Sent != 4 || s.Unsent != 0 {
		t.Errorf("%+v", s)
	}
	// The recording took from 0 to 600 ms.
	if got, want := s.Stretch.Mean(), 1201.0/600; math.Abs(got-want) > 1e-12 {
		t.Errorf("stretch %v, want %v", got, want)
	}
	// From 11 to 1201 ms, in 2 s.
	if s.PeakInFlight != 1 || s.MeanInFlight != 0.595 {
		t.Errorf("in flight %v, at most %d", s.MeanInFlight, s.PeakInFlight)
	}
	l := &s.Later
	if l.Turns != 3 || l.Late != 0 || l.Lag.Percentile(100) != 1 || l.Gaps != 2 || l.Vanished != 0 || l.Disordered != 0 {
		t.Errorf("later turns %+v", l)
	}
	// Due at 271, 221 and 1000 ms instead of 100, 200 and 300.
	if l.Drift.Median() != 171 || l.Drift.Percentile(100) != 700 || l.InDrift.Len() != 3 || math.Abs(l.InDrift.Percentile(100)-2.5) > 1e-12 || l.OutDrift.Mean() != 0 {
		t.Errorf("drift %v, %v, %v", l.Drift.Median(), l.InDrift.Percentile(100), l.OutDrift.Mean())
	}
	h.Config.Goodput[0].Limit = 1200
	if s := sessionsOf(t, h, 2, tree()...); s.Good != 0 {
		t.Error("a job that took longer than its limit is good")
	}
	h.Config.Goodput = []metrics.SLO{{Metric: "e2el", Limit: 669}}
	if s := sessionsOf(t, h, 2, tree()...); s.Good != 0 {
		t.Error("a session with a slow turn is good")
	}
}

func TestTurnsAreInTheRowsOfTheirNumbers(t *testing.T) {
	var records []*record.Record
	for i := range 10 {
		var waits []int
		if i > 0 {
			waits = []int{i - 1}
		}
		r := turn(0, i, 10, 1000*i, 10, 1000*i+10, 1000*i+10, 1000*i+20+i, 1000*i+500, waits...)
		r.Tokens.Cached, r.Session.Reusable = 50*i, 100*i
		records = append(records, r)
	}
	records[9].Result.Class = record.Reset
	s := sessionsOf(t, &metrics.Header{}, 10, records...)
	if s.Broken[record.Reset] != 1 || s.Unsent != 0 || s.Completed != 0 || s.JobTime.Len() != 0 || s.BrokenAll() != 1 {
		t.Errorf("%+v", s)
	}
	var sent, completed, prompt []int
	var ttft []float64
	for i := range s.Rows {
		row := &s.Rows[i]
		sent, completed, prompt = append(sent, row.Sent), append(completed, row.Completed), append(prompt, int(row.MeanPrompt()))
		ttft = append(ttft, row.TTFT.Median())
	}
	for _, diff := range []string{
		cmp.Diff([]int{1, 1, 2, 4, 2}, sent), cmp.Diff([]int{1, 1, 2, 4, 1}, completed), cmp.Diff([]int{100, 200, 350, 650, 900}, prompt),
		cmp.Diff([]float64{10, 11, 12.5, 15.5, 18}, ttft),
	} {
		if diff != "" {
			t.Error(diff)
		}
	}
	if from, to := RowTurns(4); from != 9 || to != 16 || rowOf(8) != 4 || rowOf(15) != 4 {
		t.Errorf("row 4 is from %d to %d", from, to)
	}
	if a, b := TurnNumbers(1), TurnNumbers(2); a != "2" || b != "3–4" {
		t.Errorf("rows of turns %s and %s", a, b)
	}
	row := &s.Rows[3] // 200 to 350 of 500 to 800
	if row.Cache.CachedShare() != 1100.0/2600 || row.Cache.ReusableShare() != 2200.0/2600 || row.Cache.ReusedShare() != 0.5 {
		t.Errorf("cache %+v", row.Cache)
	}
	if row.ScheduledE2EL.Median() != 490 || row.ITL.Len() != 4 {
		t.Errorf("%v from due, %d gaps", row.ScheduledE2EL.Median(), row.ITL.Len())
	}
}

// What a server says nothing about is unknown, unless it only leaves out a 0.
func TestUnknownCachedTokensAreLeftOut(t *testing.T) {
	unknown := &record.Turn{Reusable: -1}
	told, zero, silent := &record.Record{Tokens: record.Tokens{In: 100, Cached: 40}, Session: unknown}, &record.Record{Tokens: record.Tokens{In: 100, Uncached: true}, Session: unknown}, &record.Record{Tokens: record.Tokens{In: 50}, Session: unknown}
	for _, c := range []struct {
		name    string
		records []*record.Record
		want    float64
	}{
		{"a server that says nothing", []*record.Record{silent, silent}, math.NaN()},
		{"one that leaves out a 0", []*record.Record{told, silent}, 40.0 / 150},
		{"one that says so", []*record.Record{told, zero}, 40.0 / 200},
		{"one that says so, and nothing in other answers", []*record.Record{told, zero, silent}, 40.0 / 200},
		{"only 0", []*record.Record{zero}, 0},
	} {
		var u CacheUse
		for _, r := range c.records {
			u.add(r)
		}
		if got := u.CachedShare(); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestSessionsThatWereCutAreCensored(t *testing.T) {
	var s Sessions
	for _, ms := range []float64{6, 6, 6, 7, 10, 13, 16, 22, 23} {
		s.JobTime.Add(ms / 1000)
	}
	for _, ms := range []float64{6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35} {
		s.CutAfter.Add(ms / 1000)
	}
	// The remission times of Freireich et al. (1963): Kaplan and Meier's curve falls to 0.857, 0.807,
	// 0.753, 0.690, 0.627, 0.538 and 0.448.
	for p, want := range map[float64]float64{0: 6, 14: 6, 15: 7, 24: 10, 25: 13, 40: 22, 50: 23, 55: 23, 56: math.Inf(1)} {
		if got := s.JobPercentile(p); math.Abs(got-want) > 1e-9 && got != want {
			t.Errorf("percentile %v is %v, want %v", p, got, want)
		}
	}
	over := s
	over.JobTime = metrics.FromHistogram(s.JobTime.Histogram()) // only the histogram remains
	over.CutAfter = metrics.FromHistogram(s.CutAfter.Histogram())
	if got := over.JobPercentile(50); math.Abs(got-23) > 0.03 {
		t.Errorf("the median is %v by the histogram", got)
	}
	if got := new(Sessions).JobPercentile(50); !math.IsNaN(got) {
		t.Errorf("%v without sessions", got)
	}
}

// A session in a gap when the duration was over went on until then.
func TestASessionIsKnownUntilTheDurationIsOver(t *testing.T) {
	cut := turn(1, 0, 2, 0, 0, 0, 0, 100, 200)
	inFlight := turn(2, 1, 2, 0, 0, 0, 0, 100, 4000, 0)
	inFlight.Result.Class, inFlight.Phase = record.Cancelled, record.Drain
	h := &metrics.Header{Config: metrics.Config{Duration: 3}}
	for seconds, want := range map[float64]float64{4: 3000, 2.5: 2500, 0.1: 200} {
		if s := sessionsOf(t, h, seconds, cut); s.Cut != 1 || s.Unsent != 1 || s.CutAfter.Mean() != want {
			t.Errorf("%d cut, after %v ms, want %v", s.Cut, s.CutAfter.Mean(), want)
		}
	}
	if s := sessionsOf(t, h, 4, inFlight, turn(2, 0, 2, 0, 0, 0, 0, 100, 200)); s.Cut != 1 || s.Unsent != 0 || s.CutAfter.Mean() != 4000 {
		t.Errorf("%d cut, after %v ms", s.Cut, s.CutAfter.Mean())
	}
	if s := sessionsOf(t, &metrics.Header{}, 4, cut); s.CutAfter.Mean() != 200 {
		t.Errorf("cut after %v ms", s.CutAfter.Mean())
	}
}

func TestASessionOfTheWarmUpIsCountedApart(t *testing.T) {
	first, second := turn(0, 0, 2, 0, 0, 0, 0, 100, 200), turn(0, 1, 2, 200, 1800, 2000, 2000, 2100, 2200, 0)
	first.Phase, first.Session.Early, second.Session.Early = record.WarmUp, true, true
	h := &metrics.Header{WarmUp: time.Second}
	single := turn(0, 0, 1, 1500, 0, 1510, 1511, 1600, 1700) // the same index, in the measured part
	s := sessionsOf(t, h, 2, first, single, second)
	if s.Earlier != 1 || s.Begun != 1 || s.Completed != 1 || s.JobTime.Mean() != 200 || s.Rows[0].Sent != 1 || s.Rows[1].Sent != 1 {
		t.Errorf("%+v", s)
	}
	// From 1000 to 2200 and from 1511 to 1700 ms.
	if s.MeanInFlight != (1.2+0.189)/2 || s.PeakInFlight != 2 {
		t.Errorf("in flight %v, at most %d", s.MeanInFlight, s.PeakInFlight)
	}
	single.Session = nil
	if Of(collected(h, []*record.Record{single}).Summary(2)) != nil {
		t.Error("sessions without steps")
	}
}

func TestTurnsOutOfOrderAreFound(t *testing.T) {
	early := turn(0, 1, 2, 500, 0, 500, 400, 600, 700, 0)  // before ready
	hidden := turn(1, 1, 2, 100, 0, 100, 100, 600, 700, 0) // after ready, and before the end of turn 0
	s := sessionsOf(t, &metrics.Header{}, 1, turn(0, 0, 2, 0, 0, 0, 0, 100, 500), early, turn(1, 0, 2, 0, 0, 0, 0, 100, 500), hidden)
	if s.Later.Disordered != 2 || s.Later.Turns != 2 {
		t.Errorf("%+v", s.Later)
	}
}

// job is a random session from some time on: a tree with joins. Its answers may fail or be cut,
// which leaves turns unsent, and its first turns may be of a warm-up that lasts a second.
func job(random *rand.Rand, index int, from time.Duration) (records []*record.Record) {
	some := func(most time.Duration) time.Duration { return time.Duration(random.Int64N(int64(most))) }
	turns := 1 + random.IntN(6)
	early := from < time.Second
	ends := map[int]time.Duration{}
	for i := range turns {
		r := &record.Record{Index: index, Turn: i, Tokens: record.Tokens{In: 1 + random.IntN(900), InAsked: 1 + random.IntN(900), Cached: random.IntN(3) * 10, Out: 1 + random.IntN(5), OutAsked: random.IntN(5)}}
		r.Session = &record.Turn{Turns: turns, Early: early, Ready: from, SessionSlot: from, Gap: some(time.Second) * time.Duration(random.IntN(2)), Tool: random.IntN(2) == 0, History: random.IntN(2), Reusable: random.IntN(30) - 1}
		for wait := range i {
			if random.IntN(3) == 0 {
				r.Session.Waits = append(r.Session.Waits, wait)
			}
		}
		unsent := false
		for k, wait := range r.Session.Waits {
			end, answered := ends[wait]
			if unsent = unsent || !answered; k == 0 || end > r.Session.Ready {
				r.Session.Ready = end
			}
		}
		if unsent {
			continue
		}
		r.Times.Due = r.Session.Ready + r.Session.Gap
		r.Times.Slot = r.Times.Due + some(50*msec)*time.Duration(random.IntN(2))
		r.Times.Sent = r.Times.Slot + some(2*msec)
		at := r.Times.Sent + some(300*msec)
		for range r.Tokens.Out {
			r.Answer.Chunks.Append(at)
			at += some(20 * msec)
		}
		r.Times.Last, r.Times.FirstContent, r.Times.End = r.Answer.Chunks.Last(), r.Answer.Chunks.First(), at
		if early && r.Times.Due < time.Second {
			r.Phase = record.WarmUp
		}
		if random.IntN(3) > 0 {
			r.Session.At, r.Session.Took = new(from+time.Duration(i)*time.Second), some(time.Second)
		}
		switch random.IntN(25) {
		case 0:
			r.Result.Class, r.Result.Status = record.Status, 500
		case 1:
			r.Result.Class, r.Phase = record.Cancelled, record.Drain
		default:
			ends[i] = r.Times.End
		}
		records = append(records, r)
	}
	return records
}

// sameSessions compares figures up to the order of values.
var sameSessions = cmp.Options{
	cmp.Comparer(func(a, b metrics.Distribution) bool {
		x, y := a.Histogram(), b.Histogram()
		same := x == y || x != nil && y != nil && x.Equals(y)
		return same && a.Approximate() == b.Approximate() && slices.Equal(ascending(&a), ascending(&b))
	}),
	cmpopts.EquateNaNs(), cmpopts.EquateEmpty(),
}

// ascending are the values of d, each as often as it is there.
func ascending(d *metrics.Distribution) (all []float64) {
	for v, n := range d.Values() {
		all = append(all, slices.Repeat([]float64{v}, n)...)
	}
	return all
}

func collected(h *metrics.Header, records []*record.Record) *metrics.Collector {
	c := metrics.NewCollector(h, Kind)
	for _, r := range records {
		c.Add(r)
	}
	return c
}

// However the records of a run are split, also in the middle of sessions, and in any order, the parts
// together are the whole.
func TestMergedSessionsAreTheWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	random := rand.New(rand.NewPCG(3, 4))
	h := &metrics.Header{WarmUp: time.Second, Config: metrics.Config{Duration: 8, Goodput: []metrics.SLO{{Metric: metrics.JobSLO, Limit: 2000}, {Metric: "ttft", Limit: 290}}}}
	for range 50 {
		var records []*record.Record
		var jobs time.Duration // times of completed measured sessions
		for i := range 40 {
			all := job(random, i, time.Duration(random.Int64N(9e9)))
			records = append(records, all...)
			if len(all) == 0 || all[0].Session.Early || len(all) < all[0].Session.Turns || slices.ContainsFunc(all, func(r *record.Record) bool { return r.Result.Class != record.OK }) {
				continue
			}
			from, to := all[0].Times.Due, all[0].Times.End
			for _, r := range all {
				from, to = min(from, r.Times.Due), max(to, r.Times.End)
			}
			jobs += to - from
		}
		want := Of(collected(h, records).Summary(10))
		if got := want.Parts.Total(); got != jobs || want.Later.Disordered != 0 {
			t.Fatalf("parts of %v, jobs of %v, %d turns out of order", got, jobs, want.Later.Disordered)
		}
		if want.Completed+want.Cut+want.BrokenAll() != want.Begun || want.JobTime.Len() != want.Completed || want.CutAfter.Len() != want.Cut {
			t.Fatalf("%+v", want)
		}
		random.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		whole, parts := metrics.NewCollector(h, Kind), make([]*metrics.Collector, 3)
		for i := range parts {
			parts[i] = metrics.NewCollector(h, Kind)
		}
		for _, r := range records {
			parts[random.IntN(len(parts))].Add(r)
		}
		parts[0].Summary(3) // which changes nothing
		for _, c := range parts {
			whole.Merge(c, 0)
		}
		for range 2 {
			if diff := cmp.Diff(want, Of(whole.Summary(10)), sameSessions); diff != "" {
				t.Fatal(diff)
			}
		}
	}
}

// Shards have their own clocks, and keep their sessions.
func TestSessionsOfShardsAreOnOneClock(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	h := &metrics.Header{}
	var whole []*record.Record
	merged := metrics.NewCollector(h, Kind)
	for shard := range 3 {
		later := time.Duration(shard) * 700 * msec
		c := metrics.NewCollector(h, Kind)
		for i := range 20 {
			for _, r := range job(random, 3*i+shard, 2*time.Second+time.Duration(random.Int64N(9e9))) {
				whole = append(whole, r)
				own := *r
				own.Shift(-later)
				c.Add(&own)
			}
		}
		merged.Merge(c, later)
	}
	if diff := cmp.Diff(Of(collected(h, whole).Summary(12)), Of(merged.Summary(12)), sameSessions); diff != "" {
		t.Error(diff)
	}
}

// The answers of a turn that came whole have no first token in its row, even next to streams.
func TestTurnsWithWholeAnswersHaveNoTTFT(t *testing.T) {
	whole := turn(0, 0, 1, 0, 0, 0, 0, 100, 200)
	whole.Answer.Unstreamed, whole.Answer.Chunks, whole.Times.FirstContent = true, record.Stamps{}, whole.Times.End
	whole.Answer.Chunks.Append(whole.Times.End)
	rows := sessionsOf(t, &metrics.Header{}, 1, whole, turn(1, 0, 1, 0, 0, 0, 0, 100, 200)).Rows
	if row := &rows[0]; row.Completed != 2 || row.TTFT.Len() != 1 || row.TTFT.Mean() != 100 || row.TPOT.Len() != 1 || row.E2EL.Len() != 2 {
		t.Errorf("%d completed, %d TTFTs, %d TPOTs, %d E2ELs", row.Completed, row.TTFT.Len(), row.TPOT.Len(), row.E2EL.Len())
	}
}
