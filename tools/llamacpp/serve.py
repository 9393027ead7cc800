"""Serves the model of a GGUF file by llama.cpp's server, of the wheel xllamacpp,
on a port of the loopback, until it is interrupted: the second argument, or a free one."""

import os
import signal
import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
params.n_parallel = 4
params.n_ctx = params.n_parallel * 1280
params.cpuparams.n_threads = 1
params.endpoint_metrics = True
params.warmup = False
server = xllamacpp.Server(params)
# In one piece, since the threads of the server write to the same pipe.
os.write(1, f"\nListening on {server.listening_address}\n".encode())
signal.sigwait([signal.SIGINT])
