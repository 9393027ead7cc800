package dataset

// A Shard is the part of a workload that one of several load generators sends:
// of Of, that which has every Ofth conversation, from number Index on. All of
// them together send each conversation once. The zero value is the whole.
type Shard struct{ Index, Of int }

// Several says that there are other shards.
func (s Shard) Several() bool { return s.Of > 1 }

// Has says whether the conversation of that number, from 0, is the shard's.
func (s Shard) Has(number int) bool { return !s.Several() || number%s.Of == s.Index }

// Share is how many of n things are the shard's, such as conversations or slots:
// those of all shards add up to n.
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
