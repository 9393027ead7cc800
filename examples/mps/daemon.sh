#!/bin/sh
# Runs a server under an MPS control daemon that starts before it and ends after it:
#
#   daemon.sh [-S] COMMAND...
#
# With -S the daemon divides SMs among its clients (static SM partitioning). Its
# folders are CUDA_MPS_PIPE_DIRECTORY and CUDA_MPS_LOG_DIRECTORY.
mkdir -p "$CUDA_MPS_PIPE_DIRECTORY" "$CUDA_MPS_LOG_DIRECTORY"
static=
if test "$1" = -S; then
	static=-S
	shift
fi
trap '' TERM # which all get at the end; the daemon, started so, outlives its clients
nvidia-cuda-mps-control -d $static || exit # one that is not ours must not serve
trap : TERM
"$@" &
wait # until the signal
wait # until the server has ended
if test -n "$static"; then
	echo lspart | nvidia-cuda-mps-control |
		awk '/^GPU-/ && $2 != "-" { print "sm_partition rm", $1, $2 }' | nvidia-cuda-mps-control
fi
echo quit | nvidia-cuda-mps-control
