package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/settings"
)

// variables is an environment of NAME=VALUE words.
func variables(words string) settings.Environment {
	return func(name string) string {
		for word := range strings.FieldsSeq(words) {
			if value, ok := strings.CutPrefix(word, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// mustJoin is a command line in an environment.
func mustJoin(t *testing.T, env, line string, more ...string) *options {
	t.Helper()
	o := mustParse(t, line, more...)
	if _, err := o.join(variables(env)); err != nil {
		t.Fatal(err)
	}
	return o
}

// What a step and a batch script have is as Slurm 22.05 was seen to set it.
const (
	slurmStep  = "SLURM_JOB_ID=12 SLURM_STEP_ID=3 SLURM_PROCID=5 SLURM_NTASKS=8 SLURM_STEP_NUM_TASKS=8"
	slurmBatch = "SLURM_JOB_ID=12 SLURM_PROCID=0 SLURM_NTASKS=4"
	kubernetes = "JOB_COMPLETION_INDEX=2 SERVEBENCH_SHARDS=4"
)

func TestPlaceIsTheFlagsOrElseTheEnvironments(t *testing.T) {
	for _, row := range []struct {
		name, env, args string
		want            dataset.Shard
		id, said        string
	}{
		{"a machine of its own", "", "", dataset.Shard{}, "", ""},
		{"a step", slurmStep, "", dataset.Shard{Index: 5, Of: 8}, "slurm-12-3", "shard 5 of 8, by Slurm's SLURM_PROCID: --shard none runs alone"},
		{"a step of an older Slurm", "SLURM_JOB_ID=12 SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=2", "", dataset.Shard{Index: 1, Of: 2}, "slurm-12-0", "shard 1 of 2, by Slurm's SLURM_PROCID: --shard none runs alone"},
		{"a step of one task", "SLURM_JOB_ID=12 SLURM_STEP_ID=3 SLURM_PROCID=0 SLURM_NTASKS=1", "", dataset.Shard{}, "", ""},
		{"an interactive step", "SLURM_JOB_ID=12 SLURM_STEP_ID=4294967290 SLURM_PROCID=0 SLURM_NTASKS=8 SLURM_STEP_NUM_TASKS=1", "", dataset.Shard{}, "", ""},
		{"a batch script", slurmBatch, "", dataset.Shard{}, "", ""},
		{"alone in a step", slurmStep, "--shard none", dataset.Shard{}, "", ""},
		{"one of one in a step", slurmStep, "--shard 0/1", dataset.Shard{Of: 1}, "", ""},
		{"another one in a step", slurmStep, "--shard 1/2", dataset.Shard{Index: 1, Of: 2}, "slurm-12-3", ""},
		{"a step and an id", slurmStep, "--run-id night", dataset.Shard{Index: 5, Of: 8}, "night", "shard 5 of 8, by Slurm's SLURM_PROCID: --shard none runs alone"},
		{"a Job", kubernetes, "--run-id night-1", dataset.Shard{Index: 2, Of: 4}, "night-1", "shard 2 of 4, by Kubernetes' JOB_COMPLETION_INDEX: --shard none runs alone"},
		{"another Job", "JOB_COMPLETION_INDEX=2", "", dataset.Shard{}, "", ""},
		{"by hand", "", "--shard 3/4 --run-id night", dataset.Shard{Index: 3, Of: 4}, "night", ""},
		{"an id alone", "", "--run-id night", dataset.Shard{}, "night", ""},
	} {
		o := mustParse(t, row.args)
		said, err := o.join(variables(row.env))
		if err != nil || o.Plan.Shard.Shard != row.want || o.Plan.Shard.RunID != row.id || said != row.said {
			t.Errorf("%s: %+v, id %q, said %q, %v", row.name, o.Plan.Shard.Shard, o.Plan.Shard.RunID, said, err)
		}
	}
}

func TestShardsThatCannotBeAreRefused(t *testing.T) {
	for _, row := range []struct{ env, args, want string }{
		{"", "--shard 0/2", "argument --shard: the shards of a run need an id in common: give all of them the same --run-id, or --start-at"},
		{kubernetes, "", "--run-id, or --start-at"},
		{"JOB_COMPLETION_INDEX=4 SERVEBENCH_SHARDS=4", "--run-id a", "Kubernetes' JOB_COMPLETION_INDEX: invalid shard: '4/4': of 4, it must be from 0 to 3: --shard none runs alone"},
		{slurmStep, "--repeat 2", "--repeat and --solo-first"},
		{"", "--shard 0/2 --run-id a --target a=http://h:1 b=http://h:2 --solo-first", "--repeat and --solo-first"},
		{"", "--repeat 2 --run-id a", "--run-id are of one run"},
		{slurmStep, "--max-concurrency 7", "argument --max-concurrency: 7: it is split over 8 shards, so it must be at least that"},
		{slurmStep, "--num-prompts 7", "argument --num-prompts: 7: it is split over 8 shards, so it must be at least that"},
		{slurmStep, "-o run.jsonl", "argument -o/--record-to: 'run.jsonl': shards on one machine would write over each other: put %t in it"},
		{slurmStep, "--hlog run.hlog", "argument --hlog: 'run.hlog': "},
		{"", "--shard 0/2 --run-id a --target a=http://h:1,max-concurrency=1", "argument --max-concurrency: 1"},
	} {
		_, err := mustParse(t, row.args).join(variables(row.env))
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s %s: %v, want %s", row.env, row.args, err, row.want)
		}
	}
	for _, row := range []struct{ args, want string }{
		{"--shard 8/8", "argument --shard: invalid shard: '8/8': of 8, it must be from 0 to 7"},
		{"--shard 1", "it must be I/N as 0/8, or none"},
		{"--shard 0/0", "it must be I/N as 0/8, or none"},
		{"--start-at tomorrow", "argument --start-at: invalid time: 'tomorrow': it must be as 2026-11-22T02:15:00.5Z, or in seconds since 1970"},
		{"--run-id a/b", "argument --run-id: invalid id: 'a/b': it must be of letters, digits, dots, dashes and underlines, at most 64"},
		{"--clock-offset soon", "argument --clock-offset: invalid offset: 'soon'"},
		{"--clock-offset inf", "argument --clock-offset: invalid offset: 'inf'"},
		{"--clock-offset=-1e30", "argument --clock-offset: invalid offset: '-1e30'"},
		{"--target a=http://h:1,shard=0/2", "--shard is of the whole command, not of one target"},
	} {
		if _, err := parseRun(strings.Fields(row.args)); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %s", row.args, err, row.want)
		}
	}
}

func TestShardsComeToOneIDByThemselves(t *testing.T) {
	id := func(args string) string { return mustJoin(t, "", args).Plan.Shard.RunID }
	one := id("--start-at 1763777700.5 --shard 0/2 --seed 1 -o a-%t --clock-offset 1 --result-filename x")
	if want := "20251122T021500Z-"; !strings.HasPrefix(one, want) || len(one) != len(want)+8 {
		t.Errorf("the id is %s, want %s and 8 digits", one, want)
	}
	if other := id("--shard 1/2 --seed 1 -o b-%t --hlog h-%t --save-result --label b --start-at 2025-11-22T03:15:00.500+01:00"); other != one {
		t.Errorf("another shard has %s, and this one %s", other, one)
	}
	for _, args := range []string{"--start-at 1763777700.5 --shard 0/2 --seed 2", "--start-at 1763777700.500000001 --shard 0/2 --seed 1"} {
		if other := id(args); other == one {
			t.Errorf("another run has the id, too: %s", args)
		}
	}
}

func TestFilesOfShardsHaveNamesOfTheirOwn(t *testing.T) {
	for _, row := range []struct{ env, args, stream, log, result string }{
		{slurmStep, "-o run-%t.jsonl --hlog %t/run-%t.hlog --result-filename %t.json --save-result", "run-5.jsonl", "5/run-5.hlog", "5.json"},
		{slurmStep, "-o - --result-filename r.json --save-result", "-", "", "r-shard5.json"},
		{"", "-o run-%t.jsonl --result-filename r%t.json --save-result", "run-0.jsonl", "", "r0.json"},
		{"", "-o run.jsonl --hlog run.hlog --result-filename r.json --save-result", "run.jsonl", "run.hlog", "r.json"},
	} {
		r := mustJoin(t, row.env, row.args).Results
		if r.Stream != row.stream || r.Intervals != row.log || r.Filename != row.result {
			t.Errorf("%s: %s, %s, %s", row.args, r.Stream, r.Intervals, r.Filename)
		}
	}
	o := mustJoin(t, slurmStep, "--save-result --result-filename r.json --target a=http://h:1 b=http://h:2")
	if name, id := o.Targets[1].Results.Filename, o.Targets[1].Plan.Shard.RunIDOf(o.Targets[1].Plan.Target); name != "r-b-shard5.json" || id != "slurm-12-3-b" {
		t.Errorf("the run %s of a target of several has the file %s", id, name)
	}
}

func TestRequestsHaveTheSameIDsOnAllShards(t *testing.T) {
	prefixes := map[string]bool{}
	for _, args := range []string{
		"--shard 0/2 --run-id a", "--shard 1/2 --run-id a", "--shard 0/2 --run-id b", "--shard 0/2 --run-id b --request-id-prefix x-", "--run-id a",
	} {
		prefixes[mustJoin(t, "", args).Plan.Workload.RequestIDPrefix] = true
	}
	if len(prefixes) != 4 || !prefixes["x-"] || !prefixes[""] {
		t.Errorf("ids begin with %v, want one of a, one of b, x- and none", prefixes)
	}
}

func TestInstantsAreReadToTheNanosecond(t *testing.T) {
	for text, want := range map[string]int64{
		"1763777700":                       1763777700_000000000,
		"1763777700.000000001":             1763777700_000000001,
		"1763777700.5":                     1763777700_500000000,
		"1763777700.1234567899":            1763777700_123456789,
		"2025-11-22T02:15:00Z":             1763777700_000000000,
		"2025-11-22T03:15:00.000001+01:00": 1763777700_000001000,
	} {
		if at, err := parseInstant(text); err != nil || at.UnixNano() != want {
			t.Errorf("%s: %v, %v; want %d ns", text, at.UnixNano(), err, want)
		}
	}
	for _, text := range []string{"", "-1", ".5", "5.", "1e9", "2025-11-22", "2025-11-22T02:15:00", "99999999999999999999"} {
		if at, err := parseInstant(text); err == nil {
			t.Errorf("%q was taken for %v", text, at)
		}
	}
}

// FuzzShardFlags holds that what is accepted can be what it is taken for.
func FuzzShardFlags(f *testing.F) {
	for _, text := range []string{"0/8", "none", "7/8", "+1/2", "1_0/2_0", "1763777700.5", "2025-11-22T02:15:00.5Z", "-0.3ms", "slurm-1-0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := settings.ParseShard(text); err == nil && text != "none" && (s.Of < 1 || s.Index < 0 || s.Index >= s.Of) {
			t.Errorf("%q is shard %d of %d", text, s.Index, s.Of)
		}
		if at, err := parseInstant(text); err == nil {
			again, err := parseInstant(at.Format("2006-01-02T15:04:05.999999999Z07:00"))
			if err != nil || !again.Equal(at) {
				t.Errorf("%q is %v, which is %v, %v", text, at, again, err)
			}
		}
		if d, err := parseOffset(text); err == nil && d.Abs().Hours() > 24*366 {
			t.Errorf("%q is %v", text, d)
		}
		if id, err := settings.ParseRunID(text); err == nil && (id == "" || len(id) > 64 || slices.ContainsFunc([]byte(id), func(c byte) bool { return c <= ' ' })) {
			t.Errorf("%q is an id", text)
		}
	})
}
