package loadgen

import (
	"context"
	"sync"
	"time"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// silence is how long a server may send nothing back before a remark: one that is busy, or compiles for
// its first request, may take that long. silenceEvery is how often somebody looks.
const (
	silence      = 30 * time.Second
	silenceEvery = time.Second
)

// watchSilence remarks once that requests have been sent for long, and that none of them has got any
// output. mute is how many were sent, and over that there is nothing to say any more. stop ends it.
func (v voice) watchSilence(mute func() (sent int64, over bool)) (stop func()) {
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		ticker := time.NewTicker(silenceEvery)
		defer ticker.Stop()
		var since time.Time
		for {
			switch sent, over := mute(); {
			case over:
				return
			case sent > 0 && since.IsZero():
				since = time.Now()
			case sent > 0 && time.Since(since) >= silence:
				v.saySilent(sent)
				return
			}
			select {
			case <-done:
				return
			case <-ticker.C:
			}
		}
	})
	return func() {
		close(done)
		watching.Wait()
	}
}

// saySilent says that nothing has come, and which setting ends such requests.
func (v voice) saySilent(sent int64) {
	program := &v.plan.Program
	ends := program.Given(naming.FirstByte, "60", "time.Minute") +
		" ends requests that get none; without it they wait for long"
	if limit := v.plan.Limits.FirstByte; limit > 0 {
		ends = program.Spell(naming.FirstByte) + " ends requests that get none after " + limit.String()
	}
	v.say("WARNING: the server has sent no output for %.0f s, in %s: %s", silence.Seconds(),
		metrics.Counted(int(sent), "request"), ends)
}

// muteLoad is for watchSilence, of a load. It has nothing to say of a load that nobody counts.
func muteLoad(live *engine.Live) func() (sent int64, over bool) {
	if live == nil {
		return func() (int64, bool) { return 0, true }
	}
	return func() (int64, bool) { return live.Now().Mute() }
}

// once sends a request alone.
func (r rehearse) once(ctx context.Context, req *engine.Request) *record.Record {
	defer r.watchSilence(func() (int64, bool) { return 1, false })()
	return r.to.Once(ctx, req)
}
