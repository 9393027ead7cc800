package builtin_test

import (
	"fmt"

	"github.com/servebench/servebench/dataset/jinja/builtin"
	"github.com/servebench/servebench/dataset/jinja/python"
)

func Example() {
	m := python.NewMeter(1 << 20)
	err := python.Try(func() {
		roles := python.List{"user", "assistant", "user"}
		unique := builtin.Filter(m, "unique", roles, new(python.Arguments))
		fmt.Println(builtin.Filter(m, "join", unique, &python.Arguments{Positional: python.List{", "}}))
		fmt.Println(builtin.Test(m, "sequence", roles, new(python.Arguments)))
		builtin.Filter(m, "wordwrap", "text", new(python.Arguments))
	})
	fmt.Println(err)
	// Output:
	// user, assistant
	// true
	// the filter wordwrap is not supported
}
