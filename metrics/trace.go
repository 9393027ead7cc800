package metrics

// A Trace is what a run left, in memory: some 450 bytes a request, texts not
// counted, and five a chunk. Parts of a run are summed up from it.
type Trace struct {
	Records []*Record // in the order in which they ended, those of one shard after those of another; the warm-up is among them
	Samples []*Sample // in the order in which they were taken
}
