package mediatokens_test

import (
	"encoding/json"
	"fmt"

	"github.com/servebench/servebench/loadgen/sim/mediatokens"
)

func ExamplePart() {
	const url = `{"type": "image_url", "image_url": {"url": "https://server.test/a.png"}}`
	tokens, ok, err := mediatokens.Part(json.RawMessage(url))
	fmt.Println(len(tokens), ok, err)
	// Output: 256 true <nil>
}
