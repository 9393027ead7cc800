#!/bin/sh
# A load test of {{.Shards}} shards. Submit it in a folder that all nodes share:
#
#     sbatch load.sh
#
# {{.Name}}-JOB.txt is the report of all shards. The folder {{.Name}}-JOB
# has the records and the messages of each shard. sbatch passes OPENAI_API_KEY
# on with the environment.
#SBATCH --job-name={{.Name}}
#SBATCH --ntasks={{.Shards}}
#SBATCH --output={{.Name}}-%j.txt
{{- range .Sbatch}}
#SBATCH {{.}}
{{- end}}

dir={{.Name}}-$SLURM_JOB_ID
mkdir -p "$dir" || exit

# The second at which the load begins. Until then the shards get ready.
T0=$(($(date +%s) + {{.Seconds}}))

# A failed shard stops no other.
srun --ntasks={{.Shards}} --kill-on-bad-exit=0 --wait=0 --output="$dir/shard-%t.log" \
    ${SLURM_CPUS_PER_TASK:+--cpus-per-task=$SLURM_CPUS_PER_TASK} \
    servebench run --start-at "$T0" -o "$dir/shard-%t.jsonl"{{lines .Words}}
ran=$?

servebench report{{if .Run.Results.Strict}} --strict{{end}} "$dir"/shard-*.jsonl
reported=$?
exit $((ran > reported ? ran : reported))
