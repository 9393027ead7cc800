package naming_test

import (
	"errors"
	"fmt"

	"github.com/servebench/servebench/loadgen/naming"
)

func Example() {
	var library naming.Spelling
	command := naming.Spelling{naming.NumPrompts: "--num-prompts", naming.Duration: "--duration"}
	for _, by := range []naming.Spelling{library, command} {
		fmt.Printf("%s: 0: it must be greater than 0, or give %s\n", by.Argument(naming.NumPrompts), by.Spell(naming.Duration))
	}
	// Output:
	// Workload.NumPrompts: 0: it must be greater than 0, or give Traffic.Duration
	// argument --num-prompts: 0: it must be greater than 0, or give --duration
}

// What a server said stays as it is, even if it has the name of a setting.
func ExampleSpelling_SpellError() {
	command := naming.Spelling{naming.Duration: "--duration"}
	err := &naming.Error{Text: func(by naming.Spelling) string {
		return "the server says Traffic.Duration: set " + by.Spell(naming.Duration)
	}}
	fmt.Println(err)
	fmt.Println(command.SpellError(err))
	fmt.Println(command.SpellError(errors.New("no Traffic.Duration")))
	// Output:
	// the server says Traffic.Duration: set Traffic.Duration
	// the server says Traffic.Duration: set --duration
	// no Traffic.Duration
}
