package dataset_test

import (
	"testing"

	"github.com/servebench/servebench/dataset"
)

func TestShardsHaveEachConversationOnce(t *testing.T) {
	for of := range 9 {
		for n := range 40 {
			shares := 0
			for index := range max(of, 1) {
				shard := dataset.Shard{Index: index, Of: of}
				has := 0
				for number := range n {
					if shard.Has(number) {
						has++
					}
				}
				if has != shard.Share(n) {
					t.Errorf("shard %d of %d has %d of %d conversations, and its share is %d", index, of, has, n, shard.Share(n))
				}
				shares += has
			}
			if shares != n {
				t.Errorf("%d shards have %d of %d conversations", of, shares, n)
			}
		}
	}
}
