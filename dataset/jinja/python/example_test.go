package python_test

import (
	"fmt"

	"github.com/servebench/servebench/dataset/jinja/python"
)

func Example() {
	m := python.NewMeter(1 << 20)
	author := python.NewDict()
	author.Set("name", "Ada")
	err := python.Try(func() {
		upper := python.Attribute(m, python.Item(m, author, "name"), "upper")
		fmt.Println(python.Call(m, upper, new(python.Arguments)))
		fmt.Println(python.Text(python.List{1, 2.0, nil, "it's"}))
		python.Binary(m, "-", 1, "x")
	})
	fmt.Println(err)
	// Output:
	// ADA
	// [1, 2.0, None, "it's"]
	// unsupported operand types for -: 'int' and 'str'
}
