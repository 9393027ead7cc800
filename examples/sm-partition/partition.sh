#!/bin/sh
# Runs a server on separate SMs, of an MPS daemon that was started with -S:
#
#   partition.sh CHUNKS COMMAND...
#
# A chunk is 8 SMs on Hopper.
chunks=$1
shift
gpu=$(nvidia-smi -i 0 --query-gpu=uuid --format=csv,noheader) || exit
said=$(echo "sm_partition add $gpu $chunks" | nvidia-cuda-mps-control)
CUDA_MPS_SM_PARTITION=$(echo "$said" | grep -o 'GPU-[^ ]*/[^ ]*')
if test -z "$CUDA_MPS_SM_PARTITION"; then
	echo "no partition of $chunks chunks: $said"
	exit 1
fi
export CUDA_MPS_SM_PARTITION
exec "$@"
