#!/bin/sh
# Proves, before a load, that both servers are under MPS and have the share of the SMs
# that CUDA_MPS_ACTIVE_THREAD_PERCENTAGE gives them.
cd "$(dirname "$0")" || exit
clients=$(./clients.sh first second) || exit
all=$(./sms.sh) || exit
for pid in $clients; do
	share=$(tr '\0' '\n' <"/proc/$pid/environ" | grep ^CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=)
	have=$(./sms.sh "$share") || exit
	percent=$((100 * have / all - ${share#*=}))
	if test $percent -lt -5 || test $percent -gt 5; then
		echo "with $share there are $have of $all SMs"
		exit 1
	fi
done
