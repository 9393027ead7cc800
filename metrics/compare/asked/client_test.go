package asked

import (
	"slices"
	"testing"
)

// Programs of one commit measure alike, whatever version make, go install, a wheel or an image gave them.
func TestClientsAreComparedByCommit(t *testing.T) {
	const commit = "4d49c3dc0123456789abcdef0123456789abcdef"
	made, installed := clientName("4d49c3dc", commit), clientName("0.0.0-20261126101548-4d49c3dc0123", commit)
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{made, installed, true},
		{made, "4d49c3dc", true}, // a recording without a commit
		{"0.0.0-20261126101548-4d49c3dc0123", "0.1.0-3-g4d49c3dc", true}, // likewise, both
		{"0.1.1-0.20261126101548-4d49c3dc0123", "4d49c3d", true},
		{clientName("0.1.0", commit), clientName("0.1.0", ""), true}, // a wheel, and go install of the tag
		{clientName("0.1.0", commit), "v0.1.0", true},
		{clientName("0.1.0", commit), installed, true},
		{clientName("devel", commit), made, true},
		{clientName("4d49c3dc-dirty", commit+"+dirty"), clientName("0.0.0-20261126101548-4d49c3dc0123+dirty", commit+"+dirty"), true},
		{"devel", "devel", true},
		{clientName("4d49c3dc-dirty", commit+"+dirty"), made, false},
		{"0.0.0-20261126101548-4d49c3dc0123+dirty", made, false},
		{clientName("devel", "5"+commit[1:]), made, false},
		{"0.0.0-20261126101548-5d49c3dc0123", made, false},
		{"0.1.0", "0.2.0", false},
		{"devel", made, false},
		{clientName("0.1.0", commit), clientName("0.1.0", "5"+commit[1:]), false},
	} {
		if sameClient(c.a, c.b) != c.same || sameClient(c.b, c.a) != c.same {
			t.Errorf("%s and %s: same is %v", c.a, c.b, !c.same)
		}
		old, new := []Parameters{{Client: c.a}}, []Parameters{{Client: c.b}}
		if found := Differences(old, new, nil); (found == nil) != c.same {
			t.Errorf("%s and %s: %q", c.a, c.b, found)
		}
		both := slices.Concat(old, new)
		if found := Differences(both, []Parameters{both[1], both[0]}, nil); found != nil {
			t.Errorf("%s and %s on both sides: %q", c.a, c.b, found)
		}
	}
}

// In which order the runs come does not matter, also where one of them does not say its commit.
func TestTheOrderOfClientsDoesNotMatter(t *testing.T) {
	runs := func(names ...string) (all []Parameters) {
		for _, name := range names {
			all = append(all, Parameters{Client: name})
		}
		return all
	}
	const a, b, c = "0.1.0 (aaaaaaa1111)", "0.1.0", "0.1.0 (bbbbbbb2222)"
	for _, sides := range [][2][]Parameters{{runs(a, b), runs(c)}, {runs(b, a), runs(c)}, {runs(b, a), runs(b, c)}, {runs(a, b), runs(c, b)}} {
		if Differences(sides[0], sides[1], nil) == nil || Differences(sides[1], sides[0], nil) == nil {
			t.Errorf("%q and %q are taken for one client", Values(sides[0], Client), Values(sides[1], Client))
		}
	}
	if found := Differences(runs(a, b), runs(b, a), nil); found != nil {
		t.Error(found)
	}
	if Differences(runs("0.1.0 (abcdef0+dirty)"), runs("0.1.0"), nil) == nil {
		t.Error("changed files are taken for the release")
	}
}
