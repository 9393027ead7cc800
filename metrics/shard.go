package metrics

import (
	"fmt"
	"time"
)

// A shard is what is known so far of one shard of a run.
type shard struct {
	begun   bool          // its run line was there
	clashes bool          // there was another run or end line, and a different one
	records int           // that were measured
	shift   time.Duration // its clock's zero on the run's clock
	began   time.Duration // when its measured part did, on its own clock
	last    time.Duration // latest end of a measured record, likewise
	gapless bool          // it has records without single chunk times
	tokens  ChunkTokens   // of its records
	end     *End
}

// add notes a record that is on the shard's own clock.
func (sh *shard) add(r *Record) {
	if r.Phase == WarmUp {
		return
	}
	sh.last = max(sh.last, r.End)
	sh.gapless = sh.gapless || r.Chunks.gapless()
	sh.records++
	if r.Class == OK && r.Chunks.Len() > 0 {
		a := r.attribute()
		sh.tokens = sh.tokens.plus(a.counts())
	}
}

// begin is when its measured part began, on the run's clock.
func (sh *shard) begin() time.Duration { return sh.shift + sh.began }

// took is how long the measured part of the shard ran.
func (sh *shard) took() time.Duration {
	if sh.end == nil {
		return max(0, sh.last-sh.began)
	}
	return seconds(sh.end.Seconds)
}

// warnings are what there is to say of the shard, each after its name.
func (sh *shard) warnings() []string {
	var w []string
	if !sh.begun {
		w = append(w, "has no run line, so what it was asked for is not known")
	}
	if sh.clashes {
		w = append(w, "has run or end lines that differ: the first of each stands")
	}
	if sh.end == nil {
		w = append(w, "was cut: it has no end line, so its duration is the end of the last request")
	} else if n := sh.end.Completed + sh.end.Failed; n != sh.records {
		w = append(w, fmt.Sprintf("counts %s in its end line, but the stream holds %d", counted(n, "request"), sh.records))
	}
	return w
}
