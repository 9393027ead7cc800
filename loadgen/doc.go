// Package loadgen puts load on LLM servers and records what each request did.
//
// Think of it as a pipe. A dataset.Source gives conversations and a Schedule the
// times at which they are due; neither can see the server, so a slow server does
// not slow the load down. A Load joins the two with a Target, and a Run puts any
// number of Loads on one clock and yields a metrics.Record for each request, in
// the order in which they end.
//
// What happens to one request is a Sender's business: it sends a Request and
// yields the Chunks of the answer as they come, each with the time at which it
// reached this machine. Endpoint is the Sender for completions and chat
// completions. A request that fails is a Record like any other, with a class and
// the server's own words; only a broken workload is an error.
//
// Its times are right under load because they are taken below net/http: a
// Transport's connections read the kernel's stamps. How late the process was all
// the same is written down beside the Records, by a Tally of what came over the
// connections and a Pulse of the process: see metrics.Evidence.
package loadgen
