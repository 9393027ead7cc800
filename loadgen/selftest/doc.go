// Package selftest measures how accurate this machine measures.
//
// Think of it as a load test with the answer known. A Load starts a server in a
// process of its own, which writes into each event when it wrote it and when the
// request came, as the kernel saw it. The load is put on with package loadgen as
// any other is, and what was measured is compared with the truth: that makes a
// Row. A Result holds the Rows of a machine and judges up to how many streams its
// numbers can be trusted. It is kept for later runs, which ask for it by Stored.
//
// Client and server share the machine's cores. What else goes on there is watched
// meanwhile: a Row that was disturbed is void and vouches for nothing.
package selftest
