package program_test

import (
	"fmt"
	"log"

	"github.com/servebench/servebench/dataset/jinja/program"
	"github.com/servebench/servebench/dataset/jinja/python"
)

func Example() {
	p, err := program.Parse("{% for n in numbers if n is odd %}{{ loop.index }}: {{ n * n }}\n{% endfor %}")
	if err != nil {
		log.Fatal(err)
	}
	vars := map[string]python.Value{"numbers": python.List{3, 4, 5}}
	text, err := p.Run(python.NewMeter(1<<20), vars)
	fmt.Print(text, err)

	_, err = p.Run(python.NewMeter(100), vars)
	fmt.Println("\n" + err.Error())
	// Output:
	// 1: 9
	// 2: 25
	// <nil>
	// line 1: the template does too much work or makes too much text
}
