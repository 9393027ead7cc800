package trust

import (
	"cmp"

	"github.com/servebench/servebench/metrics/aspect/sessions"
)

// sharded is a remedy of more machines, and empty for runs that shards cannot make.
func (j *judge) sharded(remedy string) string {
	if j.run.Header.Config.Traits.Alone {
		return ""
	}
	return remedy
}

// sessionSlotsFlag is the flag that bounds the sessions in progress.
func (j *judge) sessionSlotsFlag() string {
	return cmp.Or(j.run.Header.Config.Traits.SessionSlots, "--max-sessions")
}

// shorter says how prompts get shorter.
func (j *judge) shorter() string {
	rest := "take shorter prompts"
	if sessions.Of(j.run) != nil && j.run.Truth.LaterTurns {
		rest = "take shorter sessions"
	}
	return cmp.Or(j.run.Header.Config.Traits.Shorter, rest)
}

// replicas says how to get the counters of several replicas.
func (j *judge) replicas() string {
	switch {
	case j.run.Header.Config.Traits.Socket:
		return "load one replica"
	case j.run.Header.Target != "":
		return "name each replica in its --target NAME=URL,server-metrics=http://REPLICA1:8000,http://REPLICA2:8000"
	}
	return "name each replica: --server-metrics http://REPLICA1:8000,http://REPLICA2:8000"
}
