package metrics

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

// fillIn sets every field that v has, also those of the structs in it.
func fillIn(v reflect.Value) {
	if v.Type() == reflect.TypeFor[Stamps]() {
		var stamps Stamps
		for _, at := range []time.Duration{5, 7, 3} {
			stamps.Append(at)
		}
		v.Set(reflect.ValueOf(stamps))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fillIn(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillIn(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
	case reflect.String:
		v.SetString("a string")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		v.SetUint(7)
	case reflect.Int, reflect.Int64:
		v.SetInt(-123)
	case reflect.Float64:
		v.SetFloat(1.25e-9)
	default:
		panic("no value for a " + v.Type().String())
	}
}

// What goes in comes out, in order and over many blocks: each field alone, all and none. Only what
// was sent is left out.
func TestPackedRecordsComeOutAsTheyWere(t *testing.T) {
	whole := &Record{}
	fillIn(reflect.ValueOf(whole).Elem())
	want := []*Record{{}, whole}
	for i := range reflect.TypeFor[Record]().NumField() {
		r := &Record{}
		fillIn(reflect.ValueOf(r).Elem().Field(i))
		want = append(want, r)
	}
	ends := *whole
	ends.Chunks, ends.Blank = whole.Chunks.Ends(), whole.Blank.Ends()
	want = append(append(want, &ends), requests(5000)...)
	var packed Records
	for _, r := range want {
		packed.keep(r)
		r.Asked = nil
	}
	i := 0
	for r := range packed.all() {
		if !reflect.DeepEqual(r, want[i]) {
			t.Fatalf("record %d is\n%+v\nwant\n%+v", i, r, want[i])
		}
		i++
	}
	if i != len(want) || packed.Len() != i || len(packed.blocks) < 3 {
		t.Errorf("%d of %d records, in %d blocks", i, len(want), len(packed.blocks))
	}
	var moved Records
	moved.keep(want[1])
	moved.merge(&packed, time.Second)
	if moved.Len() != i+1 {
		t.Errorf("%d records after merging", moved.Len())
	}
	shifted := *want[1]
	shifted.Shift(time.Second)
	if got := slices.Collect(firstOf(&moved, 3)); !reflect.DeepEqual(got[0], *want[1]) || !reflect.DeepEqual(got[2], shifted) {
		t.Errorf("merged\n%+v\nwant\n%+v", got[2], shifted)
	}
}

// firstOf yields copies of the first records.
func firstOf(p *Records, n int) func(func(Record) bool) {
	return func(yield func(Record) bool) {
		for r := range p.all() {
			if n--; n < 0 || !yield(*r) {
				return
			}
		}
	}
}
