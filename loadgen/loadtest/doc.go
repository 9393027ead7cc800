// Package loadtest lets a Go test load an LLM server and hold it to an SLO or to a
// baseline.
//
// A Load says what is sent and how fast. An SLO says what the result must be:
//
//	func TestServerKeepsItsSLO(t *testing.T) {
//		load := loadtest.Load{
//			URL:      "http://127.0.0.1:8000",
//			Requests: 1200, Rate: 20,
//			InputLen: 256, OutputLen: 64,
//		}
//		load.Test(t, loadtest.SLO{
//			TTFT: loadtest.Latency{Median: 100 * time.Millisecond, P99: 500 * time.Millisecond},
//			TPOT: loadtest.Latency{Mean: 30 * time.Millisecond},
//		})
//	}
//
// P99 needs 1000 samples, and an answer that ends before its first text has none.
//
// A failing test prints each limit that did not hold, the result block of "vllm bench
// serve", and whether the numbers can be trusted. Failed requests and answers without
// tokens fail the test whatever the SLO is.
//
// A baseline says how good the server was. The load runs several times, and the gate of
// "servebench compare" decides whether the server is worse now. Without a verdict the
// test fails, too:
//
//	load.TestAgainst(t, loadtest.Baseline{File: "testdata/baseline.json"})
//
// "servebench compare --save-baseline" writes the file, and so can a Go program that runs
// the same load, as in the example of Baseline. It is valid on the machine on which it
// was written.
//
// With a Handler instead of a URL, everything goes through memory. In a testing/synctest
// bubble it also happens in fake time: then latencies are exactly what the handler's
// sleeps make them, in every run.
package loadtest
