package main

import (
	"bytes"
	"encoding/binary"
)

// ggufAlign is the alignment of every tensor in a GGUF file, the format's
// default.
const ggufAlign = 32

// A gguf is a model file in the making: version 3 of the format, little-endian,
// with 32-bit float tensors. The zero value is an empty one.
type gguf struct {
	pairs   bytes.Buffer
	npairs  uint64
	tensors []tensor
}

// A tensor has len(data) = the product of dims; dims[0] is the one whose
// neighbours lie side by side.
type tensor struct {
	name string
	dims []uint64
	data []float32
}

// The format's numbers for the types of metadata values, by the Go type that
// holds one. An array is written as its own number, its elements' and its length.
func ggufType(v any) uint32 {
	switch v.(type) {
	case uint32:
		return 4
	case int32:
		return 5
	case float32:
		return 6
	case bool:
		return 7
	case string:
		return 8
	default:
		return 9
	}
}

// set adds one metadata pair. The value is a uint32, float32, bool or string, or
// a slice of int32, float32 or string; anything else panics.
func (g *gguf) set(key string, value any) {
	g.npairs++
	put(&g.pairs, key)
	put(&g.pairs, ggufType(value))
	switch v := value.(type) {
	case []string:
		putSlice(&g.pairs, v)
	case []float32:
		putSlice(&g.pairs, v)
	case []int32:
		putSlice(&g.pairs, v)
	default:
		put(&g.pairs, v)
	}
}

// add appends a tensor.
func (g *gguf) add(name string, data []float32, dims ...uint64) {
	g.tensors = append(g.tensors, tensor{name, dims, data})
}

// encode gives the whole file.
func (g *gguf) encode() []byte {
	var b bytes.Buffer
	b.WriteString("GGUF")
	put(&b, uint32(3))
	put(&b, uint64(len(g.tensors)))
	put(&b, g.npairs)
	b.Write(g.pairs.Bytes())
	offset := 0
	for _, t := range g.tensors {
		put(&b, t.name)
		put(&b, uint32(len(t.dims)))
		put(&b, t.dims)
		put(&b, uint32(0)) // 32-bit floats
		put(&b, uint64(offset))
		offset += 4 * len(t.data)
		offset += pad(offset)
	}
	for _, t := range g.tensors {
		b.Write(make([]byte, pad(b.Len())))
		put(&b, t.data)
	}
	b.Write(make([]byte, pad(b.Len())))
	return b.Bytes()
}

// pad is how many bytes are missing from n to the next aligned offset.
func pad(n int) int { return (ggufAlign - n%ggufAlign) % ggufAlign }

// put writes a string with its length before it, and anything else as its bytes.
func put(b *bytes.Buffer, v any) {
	if s, ok := v.(string); ok {
		put(b, uint64(len(s)))
		b.WriteString(s)
		return
	}
	if err := binary.Write(b, binary.LittleEndian, v); err != nil {
		panic(err) // a value whose type has no fixed size
	}
}

// putSlice writes an array: its elements' type, its length, its elements.
func putSlice[T any](b *bytes.Buffer, s []T) {
	var zero T
	put(b, ggufType(any(zero)))
	put(b, uint64(len(s)))
	for _, v := range s {
		put(b, v)
	}
}
