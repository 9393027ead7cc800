#!/bin/sh
# Prints the process id of each engine, which must be a client of the MPS daemon:
#
#   clients.sh SERVER...
#
# An engine is found by SERVER in its environment. A process that found no daemon at
# its CUDA_MPS_PIPE_DIRECTORY runs without MPS and says nothing.
clients=$(echo get_server_list | nvidia-cuda-mps-control | grep -x '[0-9]*' | while read -r pid; do
	echo "get_client_list $pid" | nvidia-cuda-mps-control | grep -x '[0-9]*'
done)
for server; do
	found=
	for pid in $clients; do
		if tr '\0' '\n' <"/proc/$pid/environ" | grep -qx "SERVER=$server"; then
			found=$pid
		fi
	done
	if test -z "$found"; then
		echo "no client of the MPS daemon is the $server server: it runs without MPS" >&2
		exit 1
	fi
	echo "$found"
done
