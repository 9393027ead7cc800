package trust

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// This file reads the command line of a run, so that remedies name flags that go with it.

// setting is what a flag was set to, empty if the run does not say.
func (j *judge) setting(name string) string {
	for _, kv := range j.Header.Flags {
		if kv.Key == name {
			return kv.Value
		}
	}
	return ""
}

// flag is the number that a flag was set to, 0 without one.
func (j *judge) flag(name string) float64 {
	v, _ := strconv.ParseFloat(j.setting(name), 64)
	return v
}

// on reports that a switch was given.
func (j *judge) on(name string) bool { return j.setting(name) == "true" }

// body are the members that --extra-body puts into each body.
func (j *judge) body() (members map[string]json.RawMessage) {
	_ = json.Unmarshal([]byte(j.setting("extra-body")), &members) // what is no object has no members
	return members
}

// askedPerChunk reports that the server was asked to count the tokens of each chunk.
func (j *judge) askedPerChunk() bool {
	var options struct {
		Continuous bool `json:"continuous_usage_stats"`
	}
	_ = json.Unmarshal(j.body()["stream_options"], &options) // what is no object asks for nothing
	return j.on("continuous-usage-stats") || options.Continuous
}

// canAskPerChunk reports that --continuous-usage-stats goes with the run: its API has it, and the bodies
// may have the member that asks.
func (j *judge) canAskPerChunk() bool {
	return j.Header.Config.CountsChunks() && !slices.Contains(strings.Split(j.setting("drop-body"), ","), "stream_options")
}

// sharded is a remedy of more machines, and empty for runs that shards cannot make.
func (j *judge) sharded(remedy string) string {
	if j.flag("repeat") > 1 || j.on("solo-first") || j.on("pairs") {
		return ""
	}
	return remedy
}

// sessionSlotsFlag is the flag that bounds the sessions in progress: --max-sessions has two names.
func (j *judge) sessionSlotsFlag() string {
	if j.flag("multi-turn-concurrency") > 0 {
		return "--multi-turn-concurrency"
	}
	return "--max-sessions"
}

// Datasets whose prompts have the length of a flag, and those that end sessions at the length of a model.
var (
	ofInputLen = []string{"random", "random-mm", "random-rerank"}
	ofModelLen = []string{"random", "sharegpt"} // with --multi-turn
)

// shorter says how prompts get shorter.
func (j *judge) shorter() string {
	dataset := cmp.Or(j.Header.Config.Dataset, j.setting("dataset-name"))
	switch {
	case dataset == "sessions", j.on("multi-turn") && slices.Contains(ofModelLen, dataset):
		return "leave out long sessions (--max-model-len)"
	case j.Sessions != nil && j.Truth.LaterTurns:
		return "take shorter sessions"
	case slices.Contains(ofInputLen, dataset):
		return "lower --random-input-len or --random-output-len"
	}
	return "take shorter prompts"
}
