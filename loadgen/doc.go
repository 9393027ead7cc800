// Package loadgen is a run as a library: what servebench run does, without its flags, its texts and
// its exit codes.
//
// A Plan says what to send to which server, when, and what to watch during the load. Its zero
// values mean what they mean for vLLM's client. Only the lengths of prompts and outputs have no
// default: a server's URL and two lengths make a Plan. Plan.Run finds the model, opens the dataset,
// warms up, puts all targets on one clock, and sends, probes, samples, retries and aborts as the
// Plan says. It returns a metrics.Summary for each load test of each target. Summary.Trust says
// whether to believe the numbers.
//
// An Observer hears about the progress of a run. Embed Quiet to implement only some of its methods.
// Records go where Plan.Keep says, and to the Observer. Errors and remarks name a setting by its
// flag of servebench run; so do the headers of record streams.
//
// The packages below: engine sends conversations when they are due, arrivals decides when they are
// due, openai speaks the protocol, wire stamps the bytes that arrive, and host watches this
// machine.
package loadgen
