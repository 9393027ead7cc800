package metrics

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

// Two cores are most of a small machine and little of a large one.
func TestOthersOfShardsAreOfTheBusiestMachine(t *testing.T) {
	large := Evidence{Machine: 64, OthersCPU: 20 * time.Second, BusiestOthers: 4}
	small := Evidence{Machine: 2, OthersCPU: 9 * time.Second, BusiestOthers: 1.5}
	for name, shards := range map[string][2]Evidence{"large first": {large, small}, "small first": {small, large}} {
		sum := shards[0]
		sum.add(&shards[1], false)
		if sum.Machine != 2 || sum.OthersCPU != 9*time.Second || sum.BusiestOthers != 1.5 {
			t.Errorf("%s: others had %v cores of %d, %v in all", name, sum.BusiestOthers, sum.Machine, sum.OthersCPU)
		}
	}
	quiet := Evidence{Machine: 4, OthersCPU: time.Second}
	quiet.add(&Evidence{Machine: 8, OthersCPU: 3 * time.Second}, false)
	if quiet.Machine != 8 || quiet.OthersCPU != 3*time.Second {
		t.Errorf("where no machine was full others took %v of %d cores", quiet.OthersCPU, quiet.Machine)
	}
}

func TestLookupsOfShardsAreTogether(t *testing.T) {
	dead := LeftOut{"10.0.0.1:80", "connection refused"}
	a := Evidence{Names: []Lookup{{Name: "gpu.test", Took: 1, Addresses: 2, LeftOut: []LeftOut{dead}}}}
	kept := slices.Clone(a.Names)
	b := Evidence{Names: []Lookup{
		{Name: "gpu.test", Took: 3, Addresses: 1, Stale: "i/o timeout", LeftOut: []LeftOut{dead, {"10.0.0.2:80", "no answer in time"}}},
		{Name: "proxy.test", Took: 2, Addresses: 1},
	}}
	sum := a
	sum.add(&b, false)
	want := []Lookup{{Name: "gpu.test", Took: 3, Addresses: 2, Stale: "i/o timeout", LeftOut: b.Names[0].LeftOut}, b.Names[1]}
	if !reflect.DeepEqual(sum.Names, want) || !reflect.DeepEqual(a.Names, kept) {
		t.Errorf("%+v, want %+v", sum.Names, want)
	}
}

// Of two shards, the one that its quota stopped for longer has the quota that counts.
func TestTheTighterQuotaCounts(t *testing.T) {
	a, b := Evidence{Quota: 2, Throttled: time.Second}, Evidence{Quota: 0.5, Throttled: 3 * time.Second}
	for _, pair := range [][2]Evidence{{a, b}, {b, a}} {
		both := pair[0]
		if both.add(&pair[1], false); both.Quota != 0.5 || both.Throttled != 3*time.Second {
			t.Errorf("%v cores, stopped for %v", both.Quota, both.Throttled)
		}
	}
}
