package metrics

import "testing"

func TestOtherwiseIsSoundOrBroken(t *testing.T) {
	o := Otherwise{OtherwiseCut: 2, OtherwiseEvent: 1, OtherwiseUnended: 4}
	if o.Sound() != 3 || o.Broken() != 4 || Otherwise(nil).Sound() != 0 {
		t.Errorf("%d sound, %d broken", o.Sound(), o.Broken())
	}
}
