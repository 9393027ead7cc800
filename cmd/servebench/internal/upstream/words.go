package upstream

import (
	"regexp"
	"strings"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/metrics/pyjson"
)

// read gives the value of a word, by the type of the argument.
func (a *argument) read(word string) (any, error) {
	switch a.Type {
	case "int":
		return argv.ParseInt(word)
	case "float":
		return argv.ParseFloat(word)
	case "loads":
		return pyjson.Parse(word)
	case "_parse_mm_bucket_config":
		return buckets(word)
	case "<lambda>":
		return list(word), nil
	}
	return word, nil
}

// bucket is an entry of a Python dict whose keys are tuples, or their text: (height, width, frames).
var bucket = regexp.MustCompile(`\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*,?\s*\)['"]?\s*:\s*([^\s,}]+)`)

// buckets reads --random-mm-bucket-config. The keys are the tuples as Python writes them.
func buckets(word string) (object pyjson.Object, err error) {
	for _, m := range bucket.FindAllStringSubmatch(word, -1) {
		share, err := argv.ParseFloat(m[4])
		if err != nil {
			return nil, err
		}
		object.Set("("+strings.Join(m[1:4], ", ")+")", share)
	}
	return object, nil
}

// list reads words between commas.
func list(word string) []string {
	words := []string{}
	for part := range strings.SplitSeq(word, ",") {
		if part = strings.TrimSpace(part); part != "" {
			words = append(words, part)
		}
	}
	return words
}
