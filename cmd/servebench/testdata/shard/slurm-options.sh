#!/bin/sh
# A load test of 64 shards. Submit it in a folder that all nodes share:
#
#     sbatch load.sh
#
# night-7-JOB.txt is the report of all shards. The folder night-7-JOB
# has the records and the messages of each shard. sbatch passes OPENAI_API_KEY
# on with the environment.
#SBATCH --job-name=night-7
#SBATCH --ntasks=64
#SBATCH --output=night-7-%j.txt
#SBATCH --nodes=4
#SBATCH --comment="a b"

dir=night-7-$SLURM_JOB_ID
mkdir -p "$dir" || exit

# The second at which the load begins. Until then the shards get ready.
T0=$(($(date +%s) + 91))

# A failed shard stops no other.
srun --ntasks=64 --kill-on-bad-exit=0 --wait=0 --output="$dir/shard-%t.log" \
    ${SLURM_CPUS_PER_TASK:+--cpus-per-task=$SLURM_CPUS_PER_TASK} \
    servebench run --start-at "$T0" -o "$dir/shard-%t.jsonl" \
    --base-url http://gpu1:8000 \
    --num-prompts 1000 \
    --goodput ttft:100 e2el:2000 \
    --extra-body '{"stop": "it'\''s"}' \
    --metadata 'price=$(COST)' shown=yes
ran=$?

servebench report "$dir"/shard-*.jsonl
reported=$?
exit $((ran > reported ? ran : reported))
