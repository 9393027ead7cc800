package dataset

// A Shard is the part of a workload that one of Of load generators sends: every
// Ofth conversation, from number Index on. Together the shards send each
// conversation once. The zero value is the whole.
type Shard struct{ Index, Of int }

// Several reports whether there are other shards.
func (s Shard) Several() bool { return s.Of > 1 }

// Has reports whether the shard sends the conversation of that number, from 0.
func (s Shard) Has(number int) bool { return !s.Several() || number%s.Of == s.Index }

// Share is how many of n things, such as conversations or slots, the shard has. The
// shares of all shards add up to n.
func (s Shard) Share(n int) int {
	if !s.Several() {
		return n
	}
	share := n / s.Of
	if s.Index < n%s.Of {
		share++
	}
	return share
}
