package argv

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/servebench/servebench/metrics/pyjson"
)

// A value is the value of a flag, which parse reads.
type value[T any] struct {
	to    *T
	parse func(string) (T, error)
	text  string // as given
}

// Parsed is the value of a flag that parse reads into to. fallback is the default as a user would
// write it; an empty one leaves *to as it is. It panics if the default is wrong.
func Parsed[T any](to *T, fallback string, parse func(string) (T, error)) pflag.Value {
	v := &value[T]{to: to, parse: parse}
	if fallback != "" {
		if err := v.Set(fallback); err != nil {
			panic(err)
		}
	}
	return v
}

// Optional is the value of a flag that is nil if it is not given.
func Optional[T any](to **T, parse func(string) (T, error)) pflag.Value {
	return Parsed(to, "", func(text string) (*T, error) {
		v, err := parse(text)
		return &v, err
	})
}

func (v *value[T]) Set(text string) (err error) {
	*v.to, err = v.parse(text)
	v.text = text
	return err
}

func (v *value[T]) String() string { return v.text }

// Type is T.
func (v *value[T]) Type() string { return fmt.Sprintf("%T", *v.to) }

// plain is the text of a value for pflag's type, converted from Python's syntax. Durations are
// written as for ParseSeconds.
func plain(kind, text string) (string, error) {
	switch kind {
	case "int", "int64":
		n, err := parseInt64(text)
		return strconv.FormatInt(n, 10), err
	case "uint64":
		n, err := parseInteger(text, strconv.ParseUint)
		return strconv.FormatUint(n, 10), err
	case "float64":
		n, err := ParseFloat(text)
		return strconv.FormatFloat(n, 'g', -1, 64), err
	case "duration":
		d, err := ParseSeconds(text)
		return d.String(), err
	case "intSlice":
		parts := strings.Split(text, ",")
		for i, part := range parts {
			var err error
			if parts[i], err = plain("int", part); err != nil {
				return "", err
			}
		}
		return strings.Join(parts, ","), nil
	}
	return text, nil
}

var (
	pythonInt   = regexp.MustCompile(`^[+-]?\d(_?\d)*$`)
	pythonFloat = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^[+-]?(\d(_?\d)*\.?(\d(_?\d)*)?(e[+-]?\d(_?\d)*)?|\.\d(_?\d)*(e[+-]?\d(_?\d)*)?|inf(inity)?|nan)$`)
	})
)

// parseInteger reads what Python's int() reads, within 64 bits.
func parseInteger[T int64 | uint64](text string, parse func(string, int, int) (T, error)) (T, error) {
	digits := strings.TrimSpace(text)
	if !pythonInt.MatchString(digits) {
		return 0, fmt.Errorf("invalid int value: %s", pyjson.Quote(text))
	}
	n, err := parse(strings.ReplaceAll(strings.TrimPrefix(digits, "+"), "_", ""), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("int value out of range: %s", pyjson.Quote(text))
	}
	return n, nil
}

// parseInt64 reads what Python's int() reads, within 64 bits.
func parseInt64(text string) (int64, error) { return parseInteger(text, strconv.ParseInt) }

// ParseInt reads what Python's int() reads, within 64 bits.
func ParseInt(text string) (int, error) {
	n, err := parseInt64(text)
	return int(n), err
}

// ParseFloat reads what Python's float() reads.
func ParseFloat(text string) (float64, error) {
	digits := strings.TrimSpace(text)
	if !pythonFloat().MatchString(digits) {
		return 0, fmt.Errorf("invalid float value: %s", pyjson.Quote(text))
	}
	digits = strings.ReplaceAll(digits, "_", "")
	if strings.EqualFold(strings.TrimLeft(digits, "+-"), "nan") {
		return math.NaN(), nil
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // out of range means infinity, as in Python
		return 0, fmt.Errorf("invalid float value: %s", pyjson.Quote(text))
	}
	return f, nil
}

// ParseObject reads a JSON object; null is an empty one.
func ParseObject(text string) (pyjson.Object, error) {
	v, err := pyjson.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("invalid JSON value: %s: %w", pyjson.Quote(text), err)
	}
	object, ok := v.(pyjson.Object)
	if !ok && v != nil {
		return nil, fmt.Errorf("invalid value: %s: it must be a JSON object", pyjson.Quote(text))
	}
	return object, nil
}

// ParseSeconds reads a time limit: seconds as a number, or a Go duration as 5m.
// Infinity is no limit, which is 0.
func ParseSeconds(text string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil {
		seconds, notNumber := ParseFloat(text)
		if notNumber != nil || math.IsNaN(seconds) {
			return 0, fmt.Errorf("invalid duration: %s: it must be seconds, or a number with a unit as in 90s or 5m",
				pyjson.Quote(text))
		}
		if seconds > math.MaxInt64/1e9 {
			return 0, nil
		}
		d = time.Duration(seconds * 1e9)
	}
	if d < 0 {
		return 0, fmt.Errorf("invalid duration: %s: it must not be negative", pyjson.Quote(text))
	}
	return d, nil
}
