#!/bin/sh
# Proves, before a load, that kvcached is on in the arms that say so and in no other:
#
#   guard.sh NAME...
#
# kvcached that is not installed, or that could not patch this vLLM, leaves a plain
# server behind. Each server that has kvcached keeps a segment of shared memory of the
# name in KVCACHED_IPC_NAME: three numbers of 8 bytes, of which the first is its limit.
for name; do
	segment=/dev/shm/$name
	case $SERVEBENCH_ARM in
	without | vanilla | static)
		if test -e "$segment"; then
			echo "kvcached is on: there is $segment"
			exit 1
		fi
		;;
	*)
		if ! test -e "$segment"; then
			echo "kvcached is not on: there is no $segment"
			exit 1
		fi
		limit=$(od -A n -t d8 -N 8 "$segment" | tr -d ' ')
		if test "$(wc -c <"$segment")" -ne 24 || test "$limit" -le 0; then
			echo "$segment is not a segment of kvcached"
			exit 1
		fi
		;;
	esac
done
