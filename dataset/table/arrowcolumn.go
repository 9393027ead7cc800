package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/servebench/servebench/metrics/pyjson"
)

// An arrowField is a column of the schema.
type arrowField struct {
	name     string
	kind     byte
	width    int64 // bytes of a number, or elements of a list of one size
	unsigned bool
	children []*arrowField
}

// The kinds of fields, as in the union Type of Schema.fbs.
const (
	arrowNull      = 1
	arrowInt       = 2
	arrowFloat     = 3
	arrowBinary    = 4
	arrowText      = 5
	arrowBool      = 6
	arrowDecimal   = 7
	arrowDate      = 8
	arrowTime      = 9
	arrowTimestamp = 10
	arrowInterval  = 11
	arrowList      = 12
	arrowStruct    = 13
	arrowFixed     = 15
	arrowFixedList = 16
	arrowMap       = 17
	arrowDuration  = 18
	arrowBinary64  = 19
	arrowText64    = 20
	arrowList64    = 21
)

var errArrowType = errors.New("its type is not supported: write the file as Parquet")

const arrowDepth = 32 // the most that fields may be nested

// arrowFields reads the fields in a slot of a table.
func arrowFields(t flatbuffers.Table, slot flatbuffers.VOffsetT, depth int) ([]*arrowField, error) {
	if depth > arrowDepth {
		return nil, errors.New("its columns are nested too deep")
	}
	fields := []*arrowField{}
	o := flatbuffers.UOffsetT(t.Offset(slot))
	if o == 0 {
		return fields, nil
	}
	for i := range t.VectorLen(o) {
		field := flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Vector(o) + flatbuffers.UOffsetT(4*i))}
		f := &arrowField{kind: field.GetByteSlot(8, 0)}
		if name := flatbuffers.UOffsetT(field.Offset(4)); name != 0 {
			f.name = field.String(name + field.Pos)
		}
		var kind flatbuffers.Table
		if o := flatbuffers.UOffsetT(field.Offset(10)); o != 0 {
			field.Union(&kind, o)
		}
		switch f.kind {
		case arrowInt:
			f.width, f.unsigned = int64(kind.GetInt32Slot(4, 0)/8), !kind.GetBoolSlot(6, false)
		case arrowFloat:
			f.width = 2 << kind.GetInt16Slot(4, 0)
		case arrowTimestamp:
			f.width = 8
		case arrowFixedList:
			f.width = int64(kind.GetInt32Slot(4, 0))
		}
		var err error
		if f.children, err = arrowFields(field, 14, depth+1); err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	return fields, nil
}

// An arrowColumn is where the values of a field are in a batch.
type arrowColumn struct {
	field    *arrowField
	length   int64
	validity span
	buffers  [2]span // numbers; or offsets and data
	children []arrowColumn
}

// A span is a part of the file.
type span struct{ at, length int64 }

// columns finds the columns of a batch.
func (a *arrowFile) columns(number int) ([]arrowColumn, error) {
	b := a.batches[number]
	nodes, buffers := pairs(b.head, 6), pairs(b.head, 8)
	for i := range buffers {
		buffers[i].at += b.body
	}
	var take func(f *arrowField) (arrowColumn, error)
	take = func(f *arrowField) (arrowColumn, error) {
		n, known := buffersOf[f.kind]
		if !known || len(nodes) == 0 || len(buffers) < n {
			return arrowColumn{}, fmt.Errorf("column %s: %w", f.name, errArrowType)
		}
		c := arrowColumn{field: f, length: nodes[0].at}
		nodes = nodes[1:]
		if n > 0 {
			c.validity = buffers[0]
			copy(c.buffers[:], buffers[1:n])
			buffers = buffers[n:]
		}
		for _, child := range f.children {
			column, err := take(child)
			if err != nil {
				return c, err
			}
			c.children = append(c.children, column)
		}
		return c, nil
	}
	columns := make([]arrowColumn, len(a.fields))
	for i, f := range a.fields {
		var err error
		if columns[i], err = take(f); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// buffersOf is how many buffers a column of a kind has. Some of the kinds are only skipped.
var buffersOf = map[byte]int{
	arrowNull: 0, arrowInt: 2, arrowFloat: 2, arrowBinary: 3, arrowText: 3, arrowBool: 2, arrowTimestamp: 2, arrowList: 2,
	arrowStruct: 1, arrowFixedList: 1, arrowBinary64: 3, arrowText64: 3, arrowList64: 2,
	arrowDecimal: 2, arrowDate: 2, arrowTime: 2, arrowInterval: 2, arrowFixed: 2, arrowMap: 2, arrowDuration: 2,
}

// pairs reads a vector of structs of two numbers: lengths and numbers of nulls, or offsets and lengths.
func pairs(t flatbuffers.Table, slot flatbuffers.VOffsetT) []span {
	o := flatbuffers.UOffsetT(t.Offset(slot))
	if o == 0 {
		return nil
	}
	var list []span
	for i := range t.VectorLen(o) {
		at := t.Vector(o) + flatbuffers.UOffsetT(16*i)
		list = append(list, span{t.GetInt64(at), t.GetInt64(at + 8)})
	}
	return list
}

// part reads bytes of a span.
func (a *arrowFile) part(s span, at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || at > s.length || n > s.length-at {
		return nil, errors.New("a value is not in its column")
	}
	return a.bytes(s.at+at, n)
}

// cell is value number i of a column.
func (a *arrowFile) cell(c arrowColumn, i int64) (any, error) {
	if i < 0 || i >= c.length {
		return nil, errors.New("the column is too short")
	}
	if c.field.kind == arrowNull {
		return nil, nil
	}
	if c.validity.length > 0 {
		bits, err := a.part(c.validity, i/8, 1)
		if err != nil || bits[0]>>(i%8)&1 == 0 {
			return nil, err
		}
	}
	switch c.field.kind {
	case arrowBool:
		bits, err := a.part(c.buffers[0], i/8, 1)
		return err == nil && bits[0]>>(i%8)&1 == 1, err
	case arrowInt, arrowFloat, arrowTimestamp:
		text, err := a.part(c.buffers[0], i*c.field.width, c.field.width)
		if err != nil {
			return nil, err
		}
		return c.field.number(text)
	case arrowStruct:
		return a.object(c, i)
	case arrowFixedList:
		return a.list(c, i*c.field.width, (i+1)*c.field.width)
	case arrowDecimal, arrowDate, arrowTime, arrowInterval, arrowFixed, arrowMap, arrowDuration:
		return nil, errArrowType
	}
	from, to, err := a.offsets(c, i)
	switch {
	case err != nil:
		return nil, err
	case c.field.kind == arrowList || c.field.kind == arrowList64:
		return a.list(c, from, to)
	}
	text, err := a.part(c.buffers[1], from, to-from)
	if c.field.kind == arrowText || c.field.kind == arrowText64 {
		return string(text), err
	}
	return text, err
}

// offsets is where value number i of a column begins and ends.
func (a *arrowFile) offsets(c arrowColumn, i int64) (from, to int64, err error) {
	if c.field.kind >= arrowBinary64 {
		text, err := a.part(c.buffers[0], 8*i, 16)
		if err != nil {
			return 0, 0, err
		}
		return int64(binary.LittleEndian.Uint64(text)), int64(binary.LittleEndian.Uint64(text[8:])), nil
	}
	text, err := a.part(c.buffers[0], 4*i, 8)
	if err != nil {
		return 0, 0, err
	}
	return int64(int32(binary.LittleEndian.Uint32(text))), int64(int32(binary.LittleEndian.Uint32(text[4:]))), nil
}

// list is elements of the only child of a column.
func (a *arrowFile) list(c arrowColumn, from, to int64) (any, error) {
	if len(c.children) != 1 || from < 0 || to < from || to > c.children[0].length || to-from > 8*a.size {
		return nil, errors.New("a list is not in its column")
	}
	list := []any{}
	for i := from; i < to; i++ {
		value, err := a.cell(c.children[0], i)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	return list, nil
}

// object is the values of the children of a column.
func (a *arrowFile) object(c arrowColumn, i int64) (any, error) {
	object := pyjson.Object{}
	for _, child := range c.children {
		value, err := a.cell(child, i)
		if err != nil {
			return nil, err
		}
		object = append(object, pyjson.Member{Key: child.field.name, Value: value})
	}
	return object, nil
}

// number is a number in the bytes of a field. Times are numbers, too.
func (f *arrowField) number(text []byte) (any, error) {
	var bits uint64
	for i, b := range text {
		bits |= uint64(b) << (8 * i)
	}
	switch {
	case f.kind == arrowFloat && f.width == 8:
		return math.Float64frombits(bits), nil
	case f.kind == arrowFloat && f.width == 4:
		return float64(math.Float32frombits(uint32(bits))), nil
	case f.kind == arrowFloat || f.width < 1 || f.width > 8:
		return nil, fmt.Errorf("numbers of %d bits are not supported", 8*f.width)
	case f.unsigned:
		return int(bits), nil
	}
	shift := 64 - 8*f.width
	return int(int64(bits<<shift) >> shift), nil
}
