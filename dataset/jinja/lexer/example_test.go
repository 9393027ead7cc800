package lexer_test

import (
	"fmt"
	"log"

	"github.com/servebench/servebench/dataset/jinja/lexer"
)

// The dash removes the white space after the tag.
func ExampleTokens() {
	tokens, err := lexer.Tokens("{% if n > 1 -%}\n  many{% endif %}")
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range tokens {
		fmt.Println(t.Line, t)
	}
	// Output:
	// 1 ""
	// 1 "if"
	// 1 "n"
	// 1 ">"
	// 1 "1"
	// 1 the end of the tag
	// 2 "many"
	// 2 ""
	// 2 "endif"
	// 2 the end of the tag
	// 2 the end of the template
}
