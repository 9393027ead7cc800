package sharing

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/targets"
)

// played is a view in which the prompts of slow lengthen the gaps of fast.
func played(seed uint64, same bool) *View {
	const bins = 1200
	chance := rand.New(rand.NewPCG(seed, 1))
	fill := func(of func() float64) (all []float64) {
		for range bins {
			all = append(all, of())
		}
		return all
	}
	one := func() float64 { return 1 }
	fast, slow := series{fill(one), fill(one), fill(chance.Float64), fill(one)}, series{fill(one), fill(one), fill(chance.Float64), fill(one)}
	for k := range bins {
		fast.gaps[k] = 3 + 2*slow.prefill[max(k-2, 0)] + chance.Float64()
		slow.gaps[k] = 3 + chance.Float64()
	}
	v := &View{names: []string{"fast", "slow"}, series: []series{fast, slow}}
	if same {
		v.same = [][2]int{{0, 1}}
	}
	return v
}

// turned is the view as a reader sees it who has the file of slow first.
func turned(v *View) *View {
	v.names[0], v.names[1] = v.names[1], v.names[0]
	v.series[0], v.series[1] = v.series[1], v.series[0]
	return v
}

func TestTheOrderOfFilesChangesNoCause(t *testing.T) {
	var shared []*metrics.Summary
	for _, name := range []string{"fast", "slow"} {
		shared = append(shared, &metrics.Summary{Header: &metrics.Header{Target: name}})
	}
	groups := []targets.Group{{Shared: shared}, {Shared: shared}}
	want := (&Load{Groups: groups, Views: []*View{played(1, false), played(2, false)}}).Causes()
	if by := want.Slowed[0].By; by != "slow" || want.Slowed[1].By != "" {
		t.Fatalf("%+v", want.Slowed)
	}
	got := (&Load{Groups: groups, Views: []*View{played(1, false), turned(played(2, false))}}).Causes()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	c := (&Load{Groups: groups, Views: []*View{nil, played(1, true), turned(played(2, true))}}).Causes()
	if !reflect.DeepEqual(c.Same, [][2]string{{"fast", "slow"}}) || !c.Pairs[0].Confounded {
		t.Errorf("%+v", c)
	}
}
