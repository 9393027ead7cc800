package stream

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// cutOff is a stream without its end line, which may be several lines.
func cutOff(stream []byte) []byte {
	return stream[:bytes.LastIndex(stream, []byte("\n"+`{"v":3,"k":"end"`))+1]
}

func TestWhatIsAmissWithShardsIsNamed(t *testing.T) {
	shards := fleet{n: 4}.write(t, load(40))
	again := load(40)
	for _, r := range again {
		r.Shift(msec)
	}
	elsewhere := fleet{n: 4, change: func(h *metrics.Header, _ *Writer) { h.Host = "n9" }}.write(t, again[:34])
	noHosts := fleet{n: 4, change: func(h *metrics.Header, _ *Writer) { h.Host = "" }}.write(t, load(40))
	otherwise := fleet{n: 4, change: func(h *metrics.Header, _ *Writer) {
		h.Flags = []metrics.KV{{Key: "seed", Value: "1"}, {Key: "shard", Value: string(rune('0' + h.Shard))}, {Key: "record-to", Value: h.Host}, {Key: "gpu-metrics", Value: h.Host}, {Key: "config", Value: h.Host}}
		if h.Shard == 2 {
			h.Flags = append(h.Flags, metrics.KV{Key: "request-rate", Value: "7"}, metrics.KV{Key: "seed", Value: "2"})[1:]
		}
	}}.write(t, load(40))
	of5 := fleet{n: 5}.write(t, load(40))
	lost := slices.Concat(slices.Collect(bytes.Lines(shards[1]))[:3]...)
	lost = append(lost, shards[1][bytes.LastIndex(shards[1], []byte("\n"+`{"v":3,"k":"req"`))+1:]...)
	for name, c := range map[string]struct {
		streams [][]byte
		faults  []string
	}{
		"none":           {shards, nil},
		"one missing":    {shards[:3], []string{"the files lack shard 3 of 4"}},
		"two missing":    {[][]byte{shards[3], shards[1]}, []string{"the files lack shards 0 and 2 of 4"}},
		"cut":            {[][]byte{shards[0], shards[1], cutOff(shards[2]), shards[3]}, []string{"shard 2 (host n1) was cut: it has no end line, so its duration ends with the last request"}},
		"a copy":         {append(slices.Clone(shards), shards[2]), nil},
		"twice":          {append(slices.Clone(shards), elsewhere[2]), []string{"shard 2 (hosts n1 and n9) ran twice: the requests of all its runs are counted"}},
		"twice, one cut": {append(slices.Clone(shards), cutOff(elsewhere[2])), []string{"shard 2 (hosts n1 and n9) ran twice: the requests of all its runs are counted", "shard 2 (hosts n1 and n9) was cut once: it has fewer end lines than run lines"}},
		"nameless":       {noHosts[1:], []string{"the files lack shard 0 of 4"}},
		"asked otherwise": {otherwise, []string{
			"shard 2 (host n1) has other parameters: --request-rate and --seed"}},
		"another number":  {[][]byte{shards[0], shards[1], shards[2], of5[3]}, []string{"shard 3 (host n1) belongs to a run of 5 shards, not 4"}},
		"one too many":    {append(slices.Clone(shards), of5[4]), []string{"shard 4 (host n2) belongs to a run of 5 shards, not 4"}},
		"without a start": {[][]byte{shards[0], shards[1], shards[2], shards[3][bytes.IndexByte(shards[3], '\n')+1:]}, []string{"shard 3 has no run line, so its parameters are unknown"}},
		"lines lost":      {[][]byte{shards[0], lost, shards[2], shards[3]}, []string{"shard 1 (host n0) counts 9 requests in its end line, but the stream holds 2"}},
	} {
		s := readOne(t, slices.Concat(c.streams...))
		if !slices.Equal(s.Source.Shards.Faults, c.faults) || s.Source.Shards.Of != 4 || (s.Source.Shards.Sound < 4) != (c.faults != nil && name != "one too many") {
			t.Errorf("%s: %d sound of %d, %q; want %q", name, s.Source.Shards.Sound, s.Source.Shards.Of, s.Source.Shards.Faults, c.faults)
		}
		if slices.Contains(failing(s), "shards") != (c.faults != nil) || len(s.Ending.Incomplete) != len(c.faults) {
			t.Errorf("%s: fails %q, lacks %q", name, failing(s), s.Ending.Incomplete)
		}
		for _, fault := range c.faults {
			if !slices.Contains(s.Ending.Incomplete, "run r: "+fault) || !slices.Contains(s.Ending.Warnings, "run r: "+fault) {
				t.Errorf("%s: lacks %q, warns %q", name, s.Ending.Incomplete, s.Ending.Warnings)
			}
		}
	}
}

// A shard that was cut has no histogram either, and the others' values are not all.
func TestGapsThatOneShardDoesNotKnowAreNotKnown(t *testing.T) {
	for shard := range 3 {
		streams := fleet{n: 3, change: func(h *metrics.Header, sw *Writer) { sw.NoChunks = h.Shard == shard }}.write(t, load(40))
		streams[shard] = cutOff(streams[shard])
		s := readOne(t, slices.Concat(streams...))
		said := strings.Join(s.Ending.Warnings, "\n")
		if !math.IsNaN(s.ITL.Mean()) || !strings.Contains(said, "run r: itl is unknown") || !strings.Contains(said, "not all values: peak output") {
			t.Errorf("shard %d: ITL %v, warnings %q", shard, s.ITL.Mean(), s.Ending.Warnings)
		}
	}
}

func TestOfManyMissingShardsAFewAreNamed(t *testing.T) {
	f := fleet{n: 1, change: func(h *metrics.Header, _ *Writer) { h.Shards, h.Shard = 1e9, 3 }}
	s := readOne(t, f.write(t, load(10))[0])
	if want := "the files lack shards 0, 1, 2, 4, 5, 6, 7, 8, 9, 10 and 999999989 more of 1000000000"; !slices.Equal(s.Source.Shards.Faults, []string{want}) {
		t.Errorf("%q", s.Source.Shards.Faults)
	}
}

func TestStartsAndClocksOfShardsAreKnown(t *testing.T) {
	streams := fleet{n: 4, startAt: true}.write(t, load(40))
	s := readOne(t, slices.Concat(streams...)).Source.Shards
	if !slices.Equal(s.Hosts, []string{"n0", "n1"}) || s.Error != 2*msec || s.Unclocked != nil ||
		*s.Offsets != (metrics.Window{From: -700 * msec, To: 9*1_000_003*time.Microsecond - 700*msec}) {
		t.Errorf("%+v", s)
	}
	// Each first request is a little after its Due, and shard 1 is the last to begin.
	first := make([]time.Duration, 4)
	for shard := range first {
		var due, sent []time.Duration
		for i, r := range load(40) {
			if i%4 == shard && r.Phase == record.Main && r.Turn == 0 {
				due, sent = append(due, r.Times.Due), append(sent, r.Times.Sent)
			}
		}
		first[shard] = msec + time.Duration(shard*3%4)*1_700_001 + slices.Min(sent) - slices.Min(due)
	}
	if *s.Late != (metrics.Window{From: slices.Min(first), To: slices.Max(first)}) || s.Last != []string{"shard 0 (host n0)", "shard 1 (host n0)", "shard 2 (host n1)", "shard 3 (host n1)"}[slices.Index(first, slices.Max(first))] {
		t.Errorf("late by %v, %s last; want %v", *s.Late, s.Last, first)
	}
	unclocked := fleet{n: 4, change: func(h *metrics.Header, _ *Writer) {
		if h.Shard > 0 {
			h.ClockError = 0
		}
		if h.Shard == 3 {
			h.Host = ""
		}
	}}.write(t, load(40))
	if s := readOne(t, slices.Concat(unclocked...)).Source.Shards; !slices.Equal(s.Unclocked, []string{"n0", "n1", "shard 3"}) || s.Offsets.From != s.Offsets.To {
		t.Errorf("%+v", s)
	}
}

// Each shard may use two cores: together no more than there are.
func TestOneMachineVouchesOnceForItsShards(t *testing.T) {
	streams := fleet{n: 4}.write(t, load(40)) // two each on two machines
	s := readOne(t, slices.Concat(streams...))
	if v := s.Evidence.Selftest; v.Streams != 20 || s.Evidence.CPU.Cores != 6 {
		t.Errorf("%+v vouches for %d", s.Evidence, v.Streams)
	}
}

func TestShardsHaveQueuesOfTheirOwn(t *testing.T) {
	const note = "--max-concurrency 4 was split over 4 shards: each has its own queue, so the order in which waiting requests get their slots is approximately first in, first out"
	s := readOne(t, slices.Concat(fleet{n: 4}.write(t, load(40))...))
	if !slices.Contains(s.Trust.Notes, note) {
		t.Errorf("notes %q", s.Trust.Notes)
	}
	free := fleet{n: 4, change: func(h *metrics.Header, _ *Writer) { h.Config.MaxConcurrency = 0 }}
	if s := readOne(t, slices.Concat(free.write(t, load(40))...)); strings.Contains(strings.Join(s.Trust.Notes, ""), "queue") {
		t.Errorf("notes %q", s.Trust.Notes)
	}
}

func TestAShardIsToldFromAWholeRun(t *testing.T) {
	var whole bytes.Buffer
	judged(t, NewWriter(&whole), testHeader("r"), 0, load(20)...)
	shards := fleet{n: 2}.write(t, load(20))
	for name, c := range map[string]struct {
		data []byte
		want bool
	}{
		"a whole run": {whole.Bytes(), false}, "shard 0": {shards[0], true}, "shard 1": {shards[1], true},
		"behind a log": {slices.Concat([]byte("pulling\nstarted\n"), shards[0]), true}, "nothing": {nil, false},
		"without its run line": {shards[1][bytes.IndexByte(shards[1], '\n')+1:], true},
		"a later version":      {[]byte(`{"v":9,"k":"run","s":1}`), false}, "a result": {[]byte(`{"duration": 1}`), false},
	} {
		if got := holdsShards(bytes.NewReader(c.data)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestHashesKnowWhatTheyHave(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var s hashes
	known := map[uint64]bool{}
	for range 20_000 {
		hash := rng.Uint64N(1000) << rng.IntN(50)
		if fresh := s.add(hash); fresh == known[max(hash, 1)] {
			t.Fatalf("%d is new: %v", hash, fresh)
		}
		known[max(hash, 1)] = true
	}
	if len(s.places) > 4*len(known) {
		t.Errorf("%d places for %d", len(s.places), len(known))
	}
}

func TestSamplesOfOneShardMakeNoTraceOfAll(t *testing.T) {
	f := fleet{n: 2, change: func(h *metrics.Header, _ *Writer) { h.Sampled = h.Shard == 0 }}
	shards := f.write(t, load(20))
	sample := []byte(`{"v":3,"k":"sample","run":"r","at":5}` + "\n")
	for name, streams := range map[string][][]byte{"sampled": {shards[0], sample, shards[1]}, "no sample": shards} {
		s := readOne(t, slices.Concat(streams...))
		if (s.Kept.Trace != nil) != (len(streams) == 3) || s.Kept.Trace != nil && (s.Kept.Trace.Records.Len() > 0 || len(s.Kept.Trace.Samples) != 1) {
			t.Errorf("%s: trace %+v", name, s.Kept.Trace)
		}
	}
}
