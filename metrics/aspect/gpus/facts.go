package gpus

import (
	"math"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/cost"
)

// facts are the energy and the money that a run cost.
func facts(s *metrics.Summary) (all []metrics.Fact) {
	set := func(key string, value any) {
		if v, is := value.(float64); !is || !math.IsNaN(v) {
			all = append(all, metrics.Fact{Key: key, Value: value})
		}
	}
	switch e := Energy(s); {
	case e == nil:
	case e.Unknown != "":
		set("energy_unknown", e.Unknown)
	default:
		set("energy_j", e.Joules)
		set("energy_by_counter", e.Counted)
		set("mean_power_w", e.Watts())
		set("joules_per_output_token", e.PerToken(s.Totals.Output))
		set("joules_per_token", e.PerToken(s.Tokens()))
		set("output_tokens_per_joule", e.TokensPerJoule(s.Totals.Output))
		if e.Share != 1 {
			set("share_of_busy_time", e.Share)
		}
	}
	if dollars := Dollars(s); dollars > 0 {
		set("cost_usd", dollars)
		set("usd_per_million_input_tokens", cost.PerMillion(dollars, s.Totals.Input))
		set("usd_per_million_output_tokens", cost.PerMillion(dollars, s.Totals.Output))
		set("usd_per_million_tokens", cost.PerMillion(dollars, s.Tokens()))
	}
	return all
}

const text = `Energy of the GPUs
	{{if known .energy_unknown}}unknown: {{.energy_unknown}}{{end}}
	{{if known .energy_j}}{{printf "%.1f J, mean %.1f W;" .energy_j .mean_power_w}}
	{{with .joules_per_output_token}}{{printf "%.4g" .}} J per output token,{{end}}
	{{with .joules_per_token}}{{printf "%.4g" .}} J per token,{{end}}
	{{with .output_tokens_per_joule}}{{printf "%.4g" .}} tok/s per W;{{end}}
	{{with .share_of_busy_time}}an estimate: {{printf "%.1f" (percent .)}} % of the energy of the shared GPUs, by share of busy time;{{end}}{{end}}

Price of a million tokens
	{{with .usd_per_million_input_tokens}}${{printf "%.4g" .}} input,{{end}}
	{{with .usd_per_million_output_tokens}}${{printf "%.4g" .}} output,{{end}}
	{{with .usd_per_million_tokens}}${{printf "%.4g" .}} both;{{end}}
	{{with .cost_usd}}the run cost ${{printf "%.4g" .}}{{end}}`
