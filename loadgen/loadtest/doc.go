// Package loadtest lets a Go test put a load on an LLM server and hold it to an SLO
// or to a baseline.
//
// A Load says what is sent and how fast, an SLO what has to come of it:
//
//	func TestServerKeepsItsSLO(t *testing.T) {
//		load := loadtest.Load{
//			URL:      "http://127.0.0.1:8000",
//			Requests: 1000, Rate: 20,
//			InputLen: 256, OutputLen: 64,
//		}
//		load.Test(t, loadtest.SLO{
//			TTFT: loadtest.Latency{Median: 100 * time.Millisecond, P99: 500 * time.Millisecond},
//			TPOT: loadtest.Latency{Mean: 30 * time.Millisecond},
//		})
//	}
//
// A test that fails prints each limit that did not hold, the result block as
// "vllm bench serve" does, and whether the numbers can be believed. Requests that
// fail and answers without tokens fail the test whatever the SLO is.
//
// A baseline says that the server is no worse than it was. The load is put on
// several times, and the gate of "servebench compare" decides; where it gives no
// verdict, the test fails, too:
//
//	load.TestAgainst(t, loadtest.Baseline{File: "testdata/baseline.json"})
//
// The file is written by "servebench compare --save-baseline", or by a Go program
// that puts on the same load, as the example of Baseline does. It holds for the
// machine on which it was written.
//
// With a Handler in place of the URL all goes through memory, and in a
// testing/synctest bubble in its fake time, where latencies are what the handler's
// sleeps make them and the same in every run.
package loadtest
