package record

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

func TestStampsTogether(t *testing.T) {
	stamps := func(all ...int) (s Stamps) {
		for _, at := range all {
			s.Append(time.Duration(at))
		}
		return s
	}
	for _, test := range []struct{ a, b, want []int }{
		{nil, []int{1, 2}, []int{1, 2}}, {[]int{3}, nil, []int{3}},
		{[]int{1, 9}, []int{1, 4, 5}, []int{1, 1, 4, 5, 9}}, {[]int{7}, []int{1, 2}, []int{1, 2, 7}},
	} {
		got := together(stamps(test.a...), stamps(test.b...))
		if want := stamps(test.want...); !reflect.DeepEqual(want, got) {
			t.Errorf("%v and %v: %v", test.a, test.b, slices.Collect(got.all()))
		}
	}
	got := together(stamps(1, 1, 1, 1, 9).Ends(), stamps(3, 12))
	if !reflect.DeepEqual(got, stamps(1, 1, 1, 1, 1, 1, 12).Ends()) {
		t.Errorf("ends alone: %+v", got)
	}
}
