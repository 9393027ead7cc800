package scan

import (
	"encoding/json"
	"errors"
)

// A Part is a part of a content that is a list.
type Part struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// Text is the text in raw, or the texts of its parts, which Mistral's API sends for models that reason;
// empty for anything else.
func Text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts Few[Part]
	_ = json.Unmarshal(raw, &parts)
	for _, part := range parts {
		s += part.Text
	}
	return s
}

// Into stores the JSON in data in what v points to. A member of the wrong type counts as missing.
func Into(data []byte, v any) error {
	var odd *json.UnmarshalTypeError
	if err := json.Unmarshal(data, v); err != nil && !errors.As(err, &odd) {
		return err
	}
	return nil
}
