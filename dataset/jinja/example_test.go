package jinja_test

import (
	"fmt"
	"log"

	"github.com/servebench/servebench/dataset/jinja"
)

const chatML = `{% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content | trim }}<|im_end|>
{% endfor %}<|im_start|>assistant
{% if not enable_thinking %}<think></think>{% endif %}`

func Example() {
	template, err := jinja.Parse(chatML, map[string]string{"bos_token": "<s>"})
	if err != nil {
		log.Fatal(err)
	}
	kwargs, err := jinja.ParseKwargs(`{"enable_thinking": false}`)
	if err != nil {
		log.Fatal(err)
	}
	text, err := template.Render([]jinja.Message{
		{Role: "system", Content: "Be brief."},
		{Role: "user", Content: " Why is the sky blue? "},
	}, kwargs)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(text)
	// Output:
	// <|im_start|>system
	// Be brief.<|im_end|>
	// <|im_start|>user
	// Why is the sky blue?<|im_end|>
	// <|im_start|>assistant
	// <think></think>
}

// A template that asks for something this package cannot do exactly is refused,
// with the line.
func ExampleParse_refused() {
	_, err := jinja.Parse("{% set x = 1 %}\n{% include 'header' %}", nil)
	fmt.Println(err)
	// Output:
	// line 2: the tag "include" is not supported
}
