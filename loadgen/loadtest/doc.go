// Package loadtest lets a Go test put a load on an LLM server and hold it to an SLO.
//
// A Load says what is sent and how fast, an SLO what has to come of it:
//
//	func TestServerKeepsItsSLO(t *testing.T) {
//		load := loadtest.Load{
//			URL:      "http://127.0.0.1:8000",
//			Requests: 200, Rate: 20,
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
// With a Handler in place of the URL all goes through memory, and in a
// testing/synctest bubble in its fake time, where latencies are what the handler's
// sleeps make them and the same in every run.
package loadtest
