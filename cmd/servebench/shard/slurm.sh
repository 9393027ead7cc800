#!/bin/sh
# A load test by {{.Shards}} shards. Submit it in a folder that all nodes share:
#
#     sbatch load.sh
#
# {{.Name}}-JOB.txt gets the report of all shards together, the folder
# {{.Name}}-JOB the records of each and what it said. OPENAI_API_KEY goes
# along with the environment.
#SBATCH --job-name={{.Name}}
#SBATCH --ntasks={{.Shards}}
#SBATCH --output={{.Name}}-%j.txt
{{- range .Sbatch}}
#SBATCH {{.}}
{{- end}}

dir={{.Name}}-$SLURM_JOB_ID
mkdir -p "$dir" || exit

# The second at which the load begins: until then the shards get ready.
T0=$(($(date +%s) + {{.Seconds}}))

# A shard that fails ends no other.
srun --ntasks={{.Shards}} --kill-on-bad-exit=0 --wait=0 --output="$dir/shard-%t.log" \
    ${SLURM_CPUS_PER_TASK:+--cpus-per-task=$SLURM_CPUS_PER_TASK} \
    servebench run --start-at "$T0" -o "$dir/shard-%t.jsonl"{{lines .Words}}
ran=$?

servebench report{{if .Run.Results.Strict}} --strict{{end}} "$dir"/shard-*.jsonl
reported=$?
exit $((ran > reported ? ran : reported))
