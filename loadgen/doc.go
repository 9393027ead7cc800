// Package loadgen is a run as a library: what servebench run does, without its flags, its
// texts and its exit codes.
//
// A Plan says what is sent to which server, when, and what is watched meanwhile. Its
// zero values stand for what vLLM's client does, but for the lengths of prompts and
// outputs, which have no defaults here: a server's URL and two lengths make a Plan. Plan.Run carries it out: it finds the model, opens
// the dataset, warms up, puts all targets on one clock, probes, samples, retries and
// gives up as the Plan says, and gives a metrics.Summary for each load test of each target.
// Each Summary has been judged: its Trust says whether its numbers can be believed.
//
// An Observer is told what goes on meanwhile: it has few methods, and Quiet has all of them.
// Records go where Plan.Keep says, and to the Observer. Errors and remarks name a setting
// by its flag of servebench run, as records do.
//
// Below this package, engine sends conversations when they are due, arrivals says when that
// is, openai speaks the protocol, wire stamps what comes back, and host watches this
// machine meanwhile.
package loadgen
