package argv

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics/pyjson"
)

// nest spells flag names with dashes, and collects vLLM's dotted flags into JSON: --extra-body.a.b
// 1 --extra-body.c=x becomes --extra-body '{"a": {"b": 1}, "c": "x"}' at the end of the command
// line, where it replaces a plain --extra-body. A name that ends in + is a list, to which it adds.
func nest(args []string) ([]string, error) {
	var plain []string
	var nested pyjson.Object // flag as written, and the object gathered for it
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			plain = append(plain, args[i:]...)
			break
		}
		name, value, hasValue := strings.Cut(Dashed(args[i]), "=")
		path := strings.Split(name, ".")
		if !strings.HasPrefix(name, "--") || len(path) == 1 || strings.Contains(name, " ") {
			plain = append(plain, Dashed(args[i]))
			continue
		}
		if !hasValue {
			if i++; i == len(args) {
				return nil, fmt.Errorf("argument %s: expected one argument", name)
			}
			value = args[i]
		}
		nested = overlay(nested, nestedValue(path, value))
	}
	for _, m := range nested {
		plain = append(plain, m.Key, string(pyjson.Append(nil, m.Value)))
	}
	return plain, nil
}

// Dashed is a word with dashes instead of underscores in the flag's name: in --extra_body.top_p=a_b
// only the first one.
func Dashed(arg string) string {
	if !strings.HasPrefix(arg, "--") {
		return arg
	}
	end := strings.IndexAny(arg, ".= ")
	if end < 0 {
		end = len(arg)
	}
	return strings.ReplaceAll(arg[:end], "_", "-") + arg[end:]
}

// nestedValue is an object with only the value, at the end of the path.
func nestedValue(path []string, text string) pyjson.Object {
	last := len(path) - 1
	var value any
	if key, isList := strings.CutSuffix(path[last], "+"); isList {
		path[last] = key
		items := []any{}
		for item := range strings.SplitSeq(text, ",") {
			items = append(items, item)
		}
		value = items
	} else {
		value = looseJSON(text)
	}
	for i := last; i > 0; i-- {
		value = pyjson.Object{{Key: path[i], Value: value}}
	}
	return pyjson.Object{{Key: path[0], Value: value}}
}

// overlay sets the members of over in base: it merges objects, appends lists, and otherwise
// replaces the earlier value.
func overlay(base, over pyjson.Object) pyjson.Object {
	for _, m := range over {
		old, _ := base.Get(m.Key)
		switch value := m.Value.(type) {
		case pyjson.Object:
			if object, ok := old.(pyjson.Object); ok {
				m.Value = overlay(object, value)
			}
		case []any:
			if list, ok := old.([]any); ok {
				m.Value = append(list, value...)
			}
		}
		base = base.With(m.Key, m.Value)
	}
	return base
}

var humanInt = regexp.MustCompile(`^(\d+)(\.\d+)?([kKmMgGtT])$`)

// looseJSON is the value of a dotted flag: JSON if it is JSON, a number if it is an integer as
// Python or people write it (1_000, 80g; small letters mean powers of 1000, capitals powers of
// 1024), and otherwise the text itself.
func looseJSON(text string) any {
	if v, err := pyjson.Parse(text); err == nil {
		return v
	}
	if n, err := ParseInt(text); err == nil {
		return n
	}
	m := humanInt.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return text
	}
	power := float64(1 + strings.Index("kmgt", strings.ToLower(m[3])))
	unit := math.Pow(1000, power)
	if strings.Contains("KMGT", m[3]) {
		if m[2] != "" {
			return text
		}
		unit = math.Pow(1024, power)
	}
	number, err := strconv.ParseFloat(m[1]+m[2], 64)
	if err != nil || number*unit > math.MaxInt64/2 {
		return text
	}
	return int(number * unit)
}
