#!/bin/sh
# Proves, before a load, that the servers of an arm divide the GPU as the arm says.
cd "$(dirname "$0")" || exit

fail() {
	echo "$SERVEBENCH_ARM: $*"
	exit 1
}

# partitioned: each engine has its own partition with 64 SMs.
partitioned() {
	seen=
	for pid in $1; do
		partition=$(tr '\0' '\n' <"/proc/$pid/environ" | sed -n 's/^CUDA_MPS_SM_PARTITION=//p')
		test -n "$partition" || fail "process $pid has no partition of the SMs"
		test "$partition" != "$seen" || fail "both servers have partition $partition"
		echo lspart | nvidia-cuda-mps-control |
			awk -v id="${partition#*/}" '$2 == id && $6 == 64 && $7 == "Yes" { found = 1 } END { exit !found }' ||
			fail "lspart has no partition $partition with 64 SMs in use and clients"
		have=$(../mps/sms.sh "CUDA_MPS_SM_PARTITION=$partition") || fail "its SMs cannot be counted"
		test "$have" = 64 || fail "partition $partition has $have SMs"
		seen=$partition
	done
}

# overlapping: each engine has said itself which SMs it has, as nothing else can.
overlapping() {
	for log in sm-100-first.log sm-100-second.log; do
		awk '/^starting / { found = 0 } /green context.* 100 SMs/ { found = 1 } END { exit !found }' $log ||
			fail "stock engine: its log has no green context of 100 SMs, so it uses all SMs"
	done
}

case $SERVEBENCH_ARM in
mps-one)
	../mps/clients.sh first >/dev/null || exit
	;;
mps-two)
	../mps/clients.sh first second >/dev/null || exit
	;;
sm-64)
	clients=$(../mps/clients.sh first second) || exit
	partitioned "$clients"
	;;
sm-100)
	../mps/clients.sh first second >/dev/null || exit
	overlapping
	;;
*)
	fail "there is no proof for this arm"
	;;
esac
