package scrape_test

import (
	"fmt"
	"strings"

	"github.com/servebench/servebench/metrics/scrape"
)

func ExampleParseServer() {
	s, err := scrape.ParseServer(strings.NewReader(`# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0"} 3
vllm:num_requests_running{engine="1"} 4
vllm:kv_cache_usage_perc{engine="0"} 0.25
vllm:kv_cache_usage_perc{engine="1"} 0.75
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.0f requests in the batch, %.0f %% of the KV cache in use\n", *s.Running, *s.KVCache*100)
	// Output: 7 requests in the batch, 50 % of the KV cache in use
}

// The difference of two Counters is what was speculated in between.
func ExampleCounters_SpecDecode() {
	before, _ := scrape.ParseCounters(strings.NewReader(""))
	after, _ := scrape.ParseCounters(strings.NewReader(`vllm:spec_decode_num_drafts_total 100
vllm:spec_decode_num_draft_tokens_total 300
vllm:spec_decode_num_accepted_tokens_total 150
`))
	s := before.SpecDecode(after)
	fmt.Printf("%.0f %% accepted, %.1f tokens a draft\n", s.AcceptanceRate, s.AcceptanceLength)
	// Output: 50 % accepted, 2.5 tokens a draft
}
