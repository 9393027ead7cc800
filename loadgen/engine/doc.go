// Package engine sends loads to targets and records each request.
//
// Think of it as a pipe. A dataset.Source provides conversations, and a Schedule the times at which
// they are due. Neither can see the server, so a slow server does not slow the load down. A Load
// joins the two with a Target, and a Run puts any number of Loads on one clock and yields a
// metrics.Record for each request, in the order in which requests end.
//
// A Sender sends one request. It yields the Chunks of the answer as they arrive, each with the time
// at which it reached this machine. Package openai has the Sender for completions and chat
// completions. A request that fails is a Record like any other: its Class and Error come from the
// record.Failure that the Sender yields. Only a broken workload is an error of the Run.
package engine
