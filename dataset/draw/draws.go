package draw

import (
	"encoding/binary"
	"hash/fnv"
	"math"

	"github.com/servebench/servebench/dataset/nprand"
)

// Draws draws numbers that depend on its key alone: on nothing that was drawn before for another
// session or turn. It is SplitMix64 of Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
// Generators", 2014.
type Draws struct{ State uint64 }

// Keyed begins the draws of a key: of what is drawn, for which session, turn and so on.
func Keyed(seed int64, what string, key ...int) *Draws {
	hash := fnv.New64a()
	var number [8]byte
	hash.Write(binary.LittleEndian.AppendUint64(number[:0], uint64(seed)))
	hash.Write([]byte(what))
	for _, part := range key {
		hash.Write(binary.LittleEndian.AppendUint64(number[:0], uint64(part)))
	}
	return &Draws{hash.Sum64()}
}

// Random draws from [0, 1).
func (d *Draws) Random() float64 {
	d.State += 0x9e3779b97f4a7c15
	z := d.State
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11) / (1 << 53)
}

// normal draws from the standard normal distribution, by Marsaglia's polar method.
func (d *Draws) normal() float64 {
	for {
		x := float64(2*d.Random()) - 1
		y := float64(2*d.Random()) - 1
		if square := float64(x*x) + float64(y*y); square > 0 && square < 1 {
			return x * math.Sqrt(-2*nprand.Log(square)/square)
		}
	}
}
