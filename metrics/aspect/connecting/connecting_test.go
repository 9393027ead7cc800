package connecting

import (
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

const msec = time.Millisecond

func TestConnectingIsOfCompletedRequests(t *testing.T) {
	c := metrics.NewCollector(&metrics.Header{}, Kind)
	for _, class := range []record.Class{record.OK, record.OK, record.Reset} {
		r := &record.Record{Result: record.Result{Class: class}}
		r.Answer.Chunks.Append(msec)
		if got := Of(c.Summary(1)); got.Of == 1 {
			r.Conn = record.Conn{New: true, DNS: msec, Connect: 2 * msec, Proxy: 4 * msec, TLS: 3 * msec}
		}
		r.Answer.Unstreamed = class == record.Reset || r.Conn.New
		c.Add(r)
	}
	got := Of(c.Summary(1))
	want := Connecting{Requests: 1, Of: 2, DNS: msec, Connect: 2 * msec, Proxy: 4 * msec, TLS: 3 * msec}
	if *got != want || got.Mean() != 10*msec {
		t.Errorf("%+v, %v; want %+v", *got, got.Mean(), want)
	}
}
