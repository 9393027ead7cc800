package refusal_test

import (
	"fmt"

	"github.com/servebench/servebench/loadgen/api/refusal"
)

func ExampleSaid() {
	fmt.Println(refusal.Said([]byte(`{"detail": [{"loc": ["body", "model"], "msg": "Field required"}]}`)).Message)
	// Output: body.model: Field required
}
