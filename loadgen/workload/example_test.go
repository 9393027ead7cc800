package workload_test

import (
	"context"
	"fmt"
	"log"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/settings"
	"github.com/servebench/servebench/loadgen/workload"
)

func Example() {
	spec := &workload.Spec{
		Server: settings.Server{Backend: "openai", Tokenizer: "stub-32000"},
		Workload: settings.Workload{Dataset: "random", NumPrompts: 2,
			Random: dataset.Random{InputLen: 3, OutputLen: 5}},
	}
	opened, err := workload.Open(context.Background(), spec, workload.Origin{Say: func(string, ...any) {}})
	if err != nil {
		log.Fatal(err)
	}
	for c, err := range opened.Source {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(c.Turns[0].PromptLen, c.Turns[0].OutputLen)
	}
	// Output:
	// 3 5
	// 3 5
}
