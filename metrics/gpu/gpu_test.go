package gpu

import (
	"reflect"
	"testing"
)

func TestReasonsThatSlowAGPU(t *testing.T) {
	for _, row := range []struct {
		reasons Reasons
		says    string
		counted Clocks
	}{
		{0x0, "", Clocks{Samples: 1}},
		{0x1, "", Clocks{}},                           // idle: no sample under load
		{0x41, "hardware thermal slowdown", Clocks{}}, // likewise
		{0x2, "", Clocks{Samples: 1, Reasons: 0x2}},   // applications clocks
		{0x4, "software power cap", Clocks{Samples: 1, Capped: 1, Reasons: 0x4}},
		{0x8, "hardware slowdown", Clocks{Samples: 1, Slowed: 1, Reasons: 0x8}},
		{0x10, "", Clocks{Samples: 1, Reasons: 0x10}}, // sync boost
		{0x20, "software thermal slowdown", Clocks{Samples: 1, Slowed: 1, Reasons: 0x20}},
		{0x48, "hardware thermal slowdown", Clocks{Samples: 1, Slowed: 1, Reasons: 0x48}},
		{0x88, "hardware power brake", Clocks{Samples: 1, Slowed: 1, Reasons: 0x88}},
		{0x100, "", Clocks{Samples: 1, Reasons: 0x100}}, // display clocks
		{0x24, "software thermal slowdown, software power cap", Clocks{Samples: 1, Slowed: 1, Capped: 1, Reasons: 0x24}},
	} {
		var c Clocks
		if c.Add(row.reasons); c != row.counted || row.reasons.String() != row.says {
			t.Errorf("%#x: %+v, %q; want %+v, %q", uint64(row.reasons), c, row.reasons, row.counted, row.says)
		}
	}
}

func TestAProcessSharesTheGPUOfTheServer(t *testing.T) {
	s := &State{Processes: []Process{{"A", 1, "", Foreign, nil, 0, 0}, {"A", 2, "", Server, nil, 0, 0}, {"B", 3, "", Foreign, nil, 0, 0}, {"A", 4, "", Hidden, nil, 0, 0}}}
	if sharing := s.Sharing(Foreign); len(sharing) != 1 || sharing[0].PID != 1 || s.Unplaced(Foreign) != nil {
		t.Errorf("sharing %v, unplaced %v", sharing, s.Unplaced(Foreign))
	}
	s.Processes = s.Processes[2:3]
	if unplaced := s.Unplaced(Foreign); len(unplaced) != 1 || unplaced[0].PID != 3 || s.Sharing(Foreign) != nil {
		t.Errorf("sharing %v, unplaced %v", s.Sharing(Foreign), unplaced)
	}
	if (*State)(nil).Sharing(Foreign) != nil {
		t.Error("nothing was watched, and there is a process")
	}
}

func TestShardsAddWhatTheySaw(t *testing.T) {
	a, b := &State{Notes: []string{"a"}}, &State{Notes: []string{"b"}, MPS: []MPS{{Pipe: "p"}}}
	want := &State{Notes: []string{"a", "b"}, MPS: []MPS{{Pipe: "p"}}}
	if got := a.Add(b); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	var none *State
	if none.Add(b) != b || b.Add(nil) != b || none.Add(nil) != nil {
		t.Error("a shard that saw nothing changed what the other saw")
	}
}

func TestAHiddenClientMayBeTheServers(t *testing.T) {
	for _, row := range []struct {
		mps  MPS
		want bool
	}{
		{MPS{Servers: []MPSServer{{Clients: 2, Ours: 1, Hidden: 1}}}, true},
		{MPS{Servers: []MPSServer{{Clients: 2, Hidden: 1}}}, false},
		{MPS{Servers: []MPSServer{{Clients: 1}}}, true},
		{MPS{Absent: "no daemon"}, true},
		{MPS{Unknown: "no such program"}, false},
	} {
		if got := row.mps.Known(); got != row.want {
			t.Errorf("%+v: known %v", row.mps, got)
		}
	}
}
