package audio

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/metrics/pyjson"
)

func spoken(u dataset.Upload) *dataset.Turn {
	return &dataset.Turn{Prompt: "not sent", OutputLen: 5, Payload: &dataset.Payload{Media: []dataset.Medium{{Kind: dataset.Sound, Upload: &u}}}}
}

// Without the boundary, the text is what aiohttp 3.14.5 writes for these parts.
func TestAFormIsThatOfVLLM(t *testing.T) {
	body := &request.Body{Model: "m", IgnoreEOS: true, Drop: []string{"max_completion_tokens"}, Extra: pyjson.Object{
		{Key: "language", Value: "de"}, {Key: "k 2", Value: nil}, {Key: `q"\`, Value: "vé"},
	}}
	form, err := Encoder(body)(spoken(dataset.Upload{Name: `a b"é%+&'(1)~.wav`, Type: "audio/wav", Data: []byte("x\r\n--y")}), "")
	if err != nil {
		t.Fatal(err)
	}
	_, params, err := mime.ParseMediaType(contentType(form))
	if err != nil || len(params["boundary"]) != 32 {
		t.Fatalf("%s: %v", contentType(form), err)
	}
	field := func(name, value string) string {
		return "--B\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
	}
	want := "--B\r\nContent-Type: audio/wav\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a%20b%22%C3%A9%25%2B%26%27%281%29~.wav\"\r\n\r\nx\r\n--y\r\n" +
		field("model", "m") + field("stream", "True") + field("language", "de") + field("stream_include_usage", "True") + field("stream_continuous_usage_stats", "True") +
		field("ignore_eos", "True") + field(`k\ 2`, "None") + field(`q\"\\`, "vé") + "--B--\r\n"
	if got := strings.ReplaceAll(string(form), params["boundary"], "B"); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// The second values are Python's str of what json.loads makes of the first.
func TestSettingsAreWrittenAsPythonDoes(t *testing.T) {
	for text, want := range map[string]string{
		`0.0`: "0.0", `1e16`: "1e+16", `7`: "7", `true`: "True", `false`: "False", `null`: "None", `"a'b"`: "a'b", `1e999`: "inf", `-1e999`: "-inf", `""`: "",
		`[1, 2.5, "x"]`: "[1, 2.5, 'x']", `{"a": [1, 2.5, true, null, "x"], "b": {"c": "it's"}, "d": "é"}`: `{'a': [1, 2.5, True, None, 'x'], 'b': {'c': "it's"}, 'd': 'é'}`,
	} {
		value, err := pyjson.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		form, err := Encoder(&request.Body{Extra: pyjson.Object{{Key: "k", Value: value}}})(spoken(dataset.Upload{}), "")
		if err != nil {
			t.Fatal(err)
		}
		if got := fields(t, form)["k"]; got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	if got := string(appendRepr(nil, json.RawMessage(`{"a": true}`))); got != "{'a': True}" {
		t.Error(got)
	}
}

// A server refuses options of a stream without one.
func TestAFormThatAsksForNoStreamHasNoOptions(t *testing.T) {
	for _, body := range []*request.Body{{Extra: pyjson.Object{{Key: "stream", Value: false}}}, {Drop: []string{"stream"}}} {
		form, err := Encoder(body)(spoken(dataset.Upload{}), "")
		if err != nil {
			t.Fatal(err)
		}
		got := fields(t, form)
		for name := range got {
			if strings.HasPrefix(name, "stream_") || name == "stream" && got[name] != "False" {
				t.Errorf("%s: %s", name, got[name])
			}
		}
	}
}

// fields are the parts of a form, as an independent reader has them.
func fields(t testing.TB, form []byte) map[string]string {
	t.Helper()
	_, params, err := mime.ParseMediaType(contentType(form))
	if err != nil {
		t.Fatal(err)
	}
	parts, all := multipart.NewReader(bytes.NewReader(form), params["boundary"]), map[string]string{}
	for {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		value, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		all[part.FormName()] = string(value)
	}
}

func TestAPromptWithoutAFileIsRefused(t *testing.T) {
	encode := Encoder(&request.Body{})
	for name, payload := range map[string]*dataset.Payload{
		"no payload": nil, "no media": {}, "a part of a chat": {Media: []dataset.Medium{{Kind: dataset.Sound, Part: []byte("{}")}}},
		"two": {Media: []dataset.Medium{{Upload: &dataset.Upload{}}, {Upload: &dataset.Upload{}}}},
	} {
		if _, err := encode(&dataset.Turn{Prompt: "p", Payload: payload}, ""); err != errNoFile {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A form is its parts, whatever they hold.
func FuzzForm(f *testing.F) {
	f.Add([]byte("RIFF"), "audio.wav", "key", "value")
	f.Add([]byte("\r\n--\r\n"), "a\"\r\nb", "k\"\r\n: x", "\r\n--")
	f.Fuzz(func(t *testing.T, data []byte, name, key, value string) {
		form, err := Encoder(&request.Body{Model: "m", Extra: pyjson.Object{{Key: key, Value: value}}})(spoken(dataset.Upload{Name: name, Type: "audio/wav", Data: data}), "")
		if err != nil {
			t.Fatal(err)
		}
		got := fields(t, form)
		if key == "file" {
			return // twice
		}
		if got["file"] != string(data) {
			t.Errorf("file %q, want %q", got["file"], data)
		}
		values := map[string]bool{}
		for _, v := range got {
			values[v] = true
		}
		if !values[value] {
			t.Errorf("no %q among %q", value, got)
		}
	})
}
