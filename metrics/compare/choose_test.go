package compare

import (
	"slices"
	"testing"

	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
)

// A sweep of two arms, each of which has two loads.
func grid() []*brief.Run {
	var runs []*brief.Run
	for _, a := range []string{"with", "without"} {
		for _, rate := range []string{"10", "inf"} {
			runs = append(runs, alike(5, asks(asked.Arm, a), asks("request-rate", rate))...)
		}
	}
	return runs
}

func pasted() []*brief.Run { return alike(1, func(_ int, r *brief.Run) { r.Asked = nil }) }

func chooseAll(t *testing.T, texts ...string) (conditions []Condition) {
	t.Helper()
	for _, text := range texts {
		c, err := ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		conditions = append(conditions, c)
	}
	return conditions
}

func TestConditionsChooseRuns(t *testing.T) {
	targets := slices.Concat(alike(2, asks(asked.Target, "a")), alike(3, asks(asked.Target, "a alone")), alike(1))
	for _, test := range []struct {
		where    []string
		old, new []*brief.Run
		olds     int
		news     int
		err      string
	}{
		{nil, pasted(), grid(), 1, 20, ""},
		{[]string{"arm=with"}, pasted(), grid(), 1, 10, ""},
		{[]string{"arm=with", "request_rate=10.0"}, pasted(), grid(), 1, 5, ""},
		{[]string{"--request-rate=inf"}, grid(), grid(), 10, 10, ""},
		{[]string{"arm=with"}, nil, grid(), 0, 10, ""},
		{[]string{"target=a"}, targets, targets, 2, 2, ""},
		{[]string{"target=a alone"}, targets, alike(1), 3, 1, ""}, // the new side has no targets to choose from
		{[]string{"target=a alone"}, slices.Concat(targets, pasted()), nil, 4, 0, ""},
		{[]string{"temperature=not given"}, grid(), alike(2, asks("temperature", "0")), 0, 0, "no new run has temperature not given: there are 0"},
		{[]string{"arm=of"}, grid(), grid(), 0, 0, "no run has arm of: there are with, without"},
		{[]string{"request-rate=5"}, pasted(), grid(), 0, 0, "no run has request-rate 5: there are 10, inf"},
		{[]string{"arm=with", "request-rate=4"}, grid(), grid(), 0, 0, "no run has request-rate 4: there are 10, inf"},
		{[]string{"request-rate=10"}, alike(1, asks("request-rate", "9")), grid(), 0, 0, "no old run has request-rate 10: there are 9"},
		{[]string{"rate=5"}, pasted(), grid(), 0, 0, "no run says rate: the runs differ in arm, request-rate"},
		{[]string{"rate=5"}, alike(1), alike(1), 0, 0, "no run says rate, and the runs do not differ in their loads"},
	} {
		old, new, err := Choose(test.old, test.new, chooseAll(t, test.where...))
		said := ""
		if err != nil {
			said = err.Error()
		}
		if len(old) != test.olds || len(new) != test.news || said != test.err {
			t.Errorf("%q: %d and %d runs, %q; want %d and %d, %q", test.where, len(old), len(new), said, test.olds, test.news, test.err)
		}
	}
	for _, text := range []string{"", "arm", "=x", "arm="} {
		if c, err := ParseCondition(text); err == nil {
			t.Errorf("%q is %+v", text, c)
		}
	}
}

// What the sides are asked to choose from, and what they are told to choose, which is
// then enough.
func TestMixedSidesAreNotCompared(t *testing.T) {
	two := func(change ...func(int, *brief.Run)) []*brief.Run {
		return slices.Concat(alike(2, append(change, asks(asked.Target, "a"))...), alike(2, append(change, asks(asked.Target, "b"))...))
	}
	alone := slices.Concat(two(), alike(2, asks(asked.Target, "a alone")))
	for name, test := range map[string]struct {
		old, new []*brief.Run
		despite  []string
		want     string
	}{
		"a pasted block against a sweep": {pasted(), grid(), nil, "the new runs are not alike, so no number can stand for all of them:\n" +
			"  arm: with, without\n  request-rate: 10, inf\nchoose, for example: --where arm=with --where request-rate=10"},
		"the same grid on both sides": {grid(), grid(), nil, ""},
		"one load more": {alike(2, asks("request-rate", "inf")), slices.Concat(alike(2, asks("request-rate", "10")), alike(2, asks("request-rate", "inf"))), nil,
			"the new runs are not alike, so no number can stand for all of them:\n  request-rate: 10, inf\nchoose, for example: --where request-rate=inf"},
		"one load more, meant": {alike(2), slices.Concat(alike(2, asks("request-rate", "10")), alike(2)), []string{"request-rate"}, ""},
		"an arm and runs without one": {slices.Concat(alike(2, asks(asked.Arm, "fast")), alike(2)), alike(2), nil,
			"the old runs are not alike, so no number can stand for all of them:\n  arm: fast, not given\nchoose, for example: --where arm=\"not given\""},
		"arms that are equal as numbers": {slices.Concat(alike(2, asks(asked.Arm, "1")), alike(2, asks(asked.Arm, "1.0"))), alike(2), nil,
			"the old runs are not alike, so no number can stand for all of them:\n  arm: 1, 1.0\nchoose, for example: --where arm=1"},
		"targets that are equal as numbers": {slices.Concat(alike(2, asks(asked.Target, "01")), alike(2, asks(asked.Target, "1"))), alike(2), nil,
			"the old runs are not alike, so no number can stand for all of them:\n  target: 01, 1\nchoose, for example: --target 01"},
		"targets alone on one side": {alone, two(), nil, "the old runs are not alike, so no number can stand for all of them:\n  target: a, a alone, b\n" +
			"the new runs are not alike, so no number can stand for all of them:\n  target: a, b\nchoose, for example: --target a"},
		"one target against another": {alike(2, asks(asked.Target, "a")), alike(2, asks(asked.Target, "b")), nil, ""},
		"a target alone":             {alike(2, asks(asked.Target, "a alone")), alike(4, func(i int, r *brief.Run) { r.Asked[asked.Target] = []string{"a alone", "c alone"}[i%2] }), nil, "the new runs are not alike, so no number can stand for all of them:\n  target: a alone, c alone\nchoose, for example: --target \"a alone\""},
		"seeds and clients":          {alike(4, seeded(0)), alike(4, seeded(9), func(i int, r *brief.Run) { r.Asked[asked.Cores] = r.Asked[asked.Seed] }), nil, ""},
	} {
		err := Unmixed(test.old, test.new, test.despite)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if said != test.want {
			t.Errorf("%s: %q, want %q", name, said, test.want)
			continue
		}
		if mixed, ok := err.(*mixedError); ok {
			old, new, err := Choose(test.old, test.new, mixed.choice)
			if err != nil || Unmixed(old, new, nil) != nil {
				t.Errorf("%s: %v after the choice, %v", name, Unmixed(old, new, nil), err)
			}
		}
		if c := Compare(test.old, test.new, gating.Gate{Despite: test.despite}); (c.Verdict == NoVerdict) != (test.want != "" || test.old[0].Asked == nil) {
			t.Errorf("%s: %s %q", name, c.Verdict, c.Reasons)
		}
	}
}

// Arms that both sides have are compared each by itself.
func TestArmsOfBothSidesAreComparedEachByItself(t *testing.T) {
	c := Compare(grid(), grid(), gating.Default())
	var names []string
	for i := range c.Points {
		names = append(names, c.Points[i].Name())
	}
	if want := []string{"arm with, request-rate 10", "arm with, request-rate inf", "arm without, request-rate 10", "arm without, request-rate inf"}; !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
}

func TestConditionTakesBothNamesOfABackend(t *testing.T) {
	if c, err := ParseCondition("backend=vllm"); err != nil || !c.is("openai") {
		t.Error(c, err)
	}
}
