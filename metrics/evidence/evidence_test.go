package evidence

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

// Two cores are most of a small machine and little of a large one.
func TestOthersOfShardsAreOfTheBusiestMachine(t *testing.T) {
	large := Evidence{CPU: CPU{Machine: 64, Others: 20 * time.Second, BusiestOthers: 4}}
	small := Evidence{CPU: CPU{Machine: 2, Others: 9 * time.Second, BusiestOthers: 1.5}}
	for name, shards := range map[string][2]Evidence{"large first": {large, small}, "small first": {small, large}} {
		sum := shards[0]
		sum.Add(&shards[1], false)
		if sum.CPU.Machine != 2 || sum.CPU.Others != 9*time.Second || sum.CPU.BusiestOthers != 1.5 {
			t.Errorf("%s: others had %v cores of %d, %v in all", name, sum.CPU.BusiestOthers, sum.CPU.Machine, sum.CPU.Others)
		}
	}
	quiet := Evidence{CPU: CPU{Machine: 4, Others: time.Second}}
	quiet.Add(&Evidence{CPU: CPU{Machine: 8, Others: 3 * time.Second}}, false)
	if quiet.CPU.Machine != 8 || quiet.CPU.Others != 3*time.Second {
		t.Errorf("where no machine was full others took %v of %d cores", quiet.CPU.Others, quiet.CPU.Machine)
	}
}

func TestLookupsOfShardsAreTogether(t *testing.T) {
	dead := LeftOut{"10.0.0.1:80", "connection refused"}
	a := Evidence{Connections: Connections{Names: []Lookup{{Name: "gpu.test", Took: 1, Addresses: 2, LeftOut: []LeftOut{dead}}}}}
	kept := slices.Clone(a.Connections.Names)
	b := Evidence{Connections: Connections{Names: []Lookup{
		{Name: "gpu.test", Took: 3, Addresses: 1, Stale: "i/o timeout", LeftOut: []LeftOut{dead, {"10.0.0.2:80", "no answer in time"}}},
		{Name: "proxy.test", Took: 2, Addresses: 1},
	}}}
	sum := a
	sum.Add(&b, false)
	want := []Lookup{{Name: "gpu.test", Took: 3, Addresses: 2, Stale: "i/o timeout", LeftOut: b.Connections.Names[0].LeftOut}, b.Connections.Names[1]}
	if !reflect.DeepEqual(sum.Connections.Names, want) || !reflect.DeepEqual(a.Connections.Names, kept) {
		t.Errorf("%+v, want %+v", sum.Connections.Names, want)
	}
}

// Of two shards, the one that its quota stopped for longer has the quota that counts.
func TestTheTighterQuotaCounts(t *testing.T) {
	a, b := Evidence{CPU: CPU{Quota: 2, Throttled: time.Second}}, Evidence{CPU: CPU{Quota: 0.5, Throttled: 3 * time.Second}}
	for _, pair := range [][2]Evidence{{a, b}, {b, a}} {
		both := pair[0]
		if both.Add(&pair[1], false); both.CPU.Quota != 0.5 || both.CPU.Throttled != 3*time.Second {
			t.Errorf("%v cores, stopped for %v", both.CPU.Quota, both.CPU.Throttled)
		}
	}
}
