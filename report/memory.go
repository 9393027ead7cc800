package report

import (
	"bytes"
	"fmt"
	"io"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pool"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/report/layout"
)

// writeWake writes how long the server took to wake up before the load; nothing if it did not sleep.
func writeWake(w io.Writer, s *metrics.Summary) error {
	k := s.Header.Wake
	if k == nil {
		return nil
	}
	_, err := fmt.Fprintf(w, "\nSleep level %d before the load: asleep after %.3f s; awake %.3f s after the wake-up "+
		"call, first token after %.3f s\n",
		k.Level, k.Sleep.Seconds(), k.Ready.Seconds(), k.FirstToken.Seconds())
	return err
}

// writeMemory writes what the server's pool of GPU memory held, how fast it took and returned memory,
// and what the first requests after that paid. It writes nothing without samples of a pool.
func writeMemory(w io.Writer, s *metrics.Summary) error {
	c := pool.Of(s)
	if c == nil {
		return nil
	}
	var b bytes.Buffer
	least, most := c.Range()
	fmt.Fprintf(&b, "\nkvcached pool %s: limit %s, held %s to %s, %s on average\n",
		c.Name, mebibytes(float64(c.Limit)), mebibytes(float64(least)), mebibytes(float64(most)), mebibytes(c.Mean()))
	moved(&b, "took", c.Taken())
	moved(&b, "returned", c.Returned())
	if p := c.Paid(); p.First > 0 && p.Rest > 0 {
		fmt.Fprintf(&b, "  mean TTFT of the first %s after it began to take: %s ms; of the other %d: %s ms\n",
			metrics.Counted(p.First, "request"), layout.Decimal(metrics.Milliseconds(p.MeanFirst)), p.Rest,
			layout.Decimal(metrics.Milliseconds(p.MeanRest)))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// moved writes a move of a pool; nothing if there was none.
func moved(b *bytes.Buffer, verb string, m pool.Move) {
	if m.Bytes > 0 {
		fmt.Fprintf(b, "  %s %s from %.2f s on: 90 %% in %.2f s, %s/s\n",
			verb, mebibytes(float64(m.Bytes)), m.From.Seconds(), m.To90.Seconds(), mebibytes(m.Rate()))
	}
}

func mebibytes(n float64) string { return layout.Decimal(n/pool.MiB) + " MiB" }

// memoryObject is the object "memory" of a result file.
func memoryObject(c *pool.Course) pyjson.Object {
	least, most := c.Range()
	o := pyjson.Object{
		{Key: "pool", Value: c.Name}, {Key: "limit_mib", Value: inMiB(c.Limit)},
		{Key: "least_mib", Value: inMiB(least)}, {Key: "most_mib", Value: inMiB(most)},
		{Key: "mean_mib", Value: c.Mean() / pool.MiB},
	}
	for _, move := range []struct {
		key string
		pool.Move
	}{{"taken", c.Taken()}, {"returned", c.Returned()}} {
		if m := move.Move; m.Bytes > 0 {
			o = o.With(move.key, pyjson.Object{
				{Key: "mib", Value: inMiB(m.Bytes)}, {Key: "from_s", Value: m.From.Seconds()},
				{Key: "to_90_percent_s", Value: m.To90.Seconds()}, {Key: "mib_per_s", Value: m.Rate() / pool.MiB},
			})
		}
	}
	if p := c.Paid(); p.First > 0 {
		o = o.With("first_requests", p.First).With("mean_first_ttft_ms", metrics.Milliseconds(p.MeanFirst))
		if p.Rest > 0 {
			o = o.With("other_requests", p.Rest).With("mean_other_ttft_ms", metrics.Milliseconds(p.MeanRest))
		}
	}
	return o
}

func inMiB(n int64) float64 { return float64(n) / pool.MiB }
