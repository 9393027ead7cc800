package main

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics/pyjson"
)

// A setter puts the text of a flag's argument where it belongs, or says what is
// wrong with it in argparse's words.
type setter func(text string) error

// into is a setter for a value that is always there.
func into[T any](to *T, parse func(string) (T, error)) setter {
	return func(text string) (err error) {
		*to, err = parse(text)
		return err
	}
}

// intoOptional is a setter for a value whose absence means something.
func intoOptional[T any](to **T, parse func(string) (T, error)) setter {
	return func(text string) error {
		v, err := parse(text)
		*to = &v
		return err
	}
}

// switchTo is a setter for a flag without argument.
func switchTo[T any](to *T, value T) setter {
	return func(string) error {
		*to = value
		return nil
	}
}

func parseString(text string) (string, error) { return text, nil }

var (
	pythonInt   = regexp.MustCompile(`^[+-]?\d(_?\d)*$`)
	pythonFloat = regexp.MustCompile(`(?i)^[+-]?(\d(_?\d)*\.?(\d(_?\d)*)?(e[+-]?\d(_?\d)*)?|\.\d(_?\d)*(e[+-]?\d(_?\d)*)?|inf(inity)?|nan)$`)
)

// parseInt64 reads what Python's int() reads, within 64 bits.
func parseInt64(text string) (int64, error) {
	digits := strings.TrimSpace(text)
	if !pythonInt.MatchString(digits) {
		return 0, fmt.Errorf("invalid int value: %s", quoted(text))
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(digits, "_", ""), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("int value out of range: %s", quoted(text))
	}
	return n, nil
}

func parseInt(text string) (int, error) {
	n, err := parseInt64(text)
	return int(n), err
}

// parseFloat reads what Python's float() reads.
func parseFloat(text string) (float64, error) {
	digits := strings.TrimSpace(text)
	if !pythonFloat.MatchString(digits) {
		return 0, fmt.Errorf("invalid float value: %s", quoted(text))
	}
	digits = strings.ReplaceAll(digits, "_", "")
	if strings.EqualFold(strings.TrimLeft(digits, "+-"), "nan") {
		return math.NaN(), nil
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // beyond the range is infinity, as in Python
		return 0, fmt.Errorf("invalid float value: %s", quoted(text))
	}
	return f, nil
}

// parseObject reads a JSON object; null is an empty one.
func parseObject(text string) (pyjson.Object, error) {
	v, err := pyjson.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("invalid JSON value: %s: %w", quoted(text), err)
	}
	object, ok := v.(pyjson.Object)
	if !ok && v != nil {
		return nil, fmt.Errorf("invalid value: %s: it must be a JSON object", quoted(text))
	}
	return object, nil
}

// parseSeconds reads a time limit: seconds as a number, or a Go duration as 5m.
// Infinity is no limit, which is 0.
func parseSeconds(text string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil {
		seconds, notNumber := parseFloat(text)
		if notNumber != nil || math.IsNaN(seconds) {
			return 0, fmt.Errorf("invalid duration: %s: it must be seconds, or a number with a unit as in 90s or 5m", quoted(text))
		}
		if seconds > math.MaxInt64/1e9 {
			return 0, nil
		}
		d = time.Duration(seconds * 1e9)
	}
	if d < 0 {
		return 0, fmt.Errorf("invalid duration: %s: it must not be negative", quoted(text))
	}
	return d, nil
}

func invalidChoice(text string, choices []string) error {
	var names []string
	for _, c := range choices {
		names = append(names, quoted(c))
	}
	return fmt.Errorf("invalid choice: %s (choose from %s)", quoted(text), strings.Join(names, ", "))
}

// quoted is text as Python's repr shows it.
func quoted(text string) string {
	q := strconv.Quote(text)
	q = strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
	if strings.Contains(q, "'") {
		if !strings.Contains(q, `"`) {
			return `"` + q + `"`
		}
		q = strings.ReplaceAll(q, "'", `\'`)
	}
	return "'" + q + "'"
}
