package main

import "testing"

// What dpkg --compare-versions and packaging.version make of these spellings is in
// order: each is newer than the one above, but for the last two.
func TestVersionsAreSpeltAsEachPackageWants(t *testing.T) {
	for _, v := range []version{
		{"v0.2.0-alpha.2", "0.2.0-alpha.2", "0.2.0a2", "0.2.0~alpha2"},
		{"v0.2.0-rc.1", "0.2.0-rc.1", "0.2.0rc1", "0.2.0~rc1"},
		{"v0.2.0-rc.1-4-g1234abc", "0.2.0-rc.1-4-g1234abc", "0.2.0rc1.post4+g1234abc", "0.2.0~rc1+4+g1234abc"},
		{"v0.2.0", "0.2.0", "0.2.0", "0.2.0"},
		{"v0.2.0-dirty", "0.2.0-dirty", "0.2.0+dirty", "0.2.0+dirty"},
		{"v0.2.1-12-g1234abc-dirty", "0.2.1-12-g1234abc-dirty", "0.2.1.post12+g1234abc.dirty", "0.2.1+12+g1234abc.dirty"},
		{"928d440", "928d440", "0.0.0+g928d440", "0.0.0+g928d440"},
		{"928d440-dirty", "928d440-dirty", "0.0.0+g928d440.dirty", "0.0.0+g928d440.dirty"},
	} {
		if got, err := parseVersion(v.described); err != nil || got != v {
			t.Errorf("%s: %+v, %v; want %+v", v.described, got, err, v)
		}
	}
	for _, wrong := range []string{"", "devel", "v1.2", "1.2.3", "v1.2.3-rc1", "v1.2.3 "} {
		if v, err := parseVersion(wrong); err == nil {
			t.Errorf("%q was taken for %+v", wrong, v)
		}
	}
}
