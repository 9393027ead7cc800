package rows_test

import (
	"fmt"
	"strings"

	"github.com/servebench/servebench/dataset/rows"
)

func Example() {
	file := strings.NewReader(`{"session": "a", "say": "hello"}
{"session": "b", "say": "good evening"}
{"session": "a", "say": "bye"}`)
	type turn struct{ Session, Say string }
	sessions, err := rows.Group("talk.jsonl", file, func(l *rows.Line[turn]) (string, error) {
		return l.Value.Session, nil
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range sessions.Len() {
		turns, err := sessions.Lines(file, i)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(turns[0].Value.Session, len(turns), turns[0].Value.Say)
	}
	// Output:
	// a 2 hello
	// b 1 good evening
}
