package redact

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics/pyjson"
)

func TestSpellingsOfSecretsAreMasked(t *testing.T) {
	const value = `se"c<re>t&/+ %é\key`
	var s Secrets
	s.Add(value)
	escaped, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{
		value, string(escaped[1 : len(escaped)-1]), strconv.Quote(value), strconv.QuoteToASCII(value), url.QueryEscape(value), url.PathEscape(value),
		html.EscapeString(value), base64.StdEncoding.EncodeToString([]byte(value)),
		strings.ReplaceAll(`se\"c<re>t&/+ %é\\key`, "/", `\/`),
	} {
		got := s.Mask("a " + said + " b")
		if trimmed := strings.NewReplacer(Mark, "", `"`, "").Replace(got); trimmed != "a  b" {
			t.Errorf("%s is shown as %s", said, got)
		}
	}
	if got := s.Mask(base64.RawURLEncoding.EncodeToString([]byte(value + " and more"))); len(got) > len(Mark)+len("k and more")*3/2 {
		t.Error(got)
	}
	if got := s.Mask(`a se"c<r… and "se\"c<… b`); got != "a <redacted>… and \"<redacted>… b" {
		t.Error(got)
	}
	if got := s.Mask("a se… b"); got != "a se… b" {
		t.Error(got)
	}
}

// secretsOf are keys.
func secretsOf(keys ...string) (s Secrets) {
	for _, key := range keys {
		s.Add(key)
	}
	return s
}

// checkEncoded checks that of a key in base64, with something before and after it, no letter is shown whose
// bits are all of the key.
func checkEncoded(t *testing.T, key string) {
	t.Helper()
	s := secretsOf(key)
	for before := range 8 {
		for after := range 5 {
			sent := []byte("Bearer "[7-before:] + key + "\r\n; "[:after])
			for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
				said := alphabet.EncodeToString(sent)
				shown := strings.Replace(s.Mask("got "+said+" from you"), Mark, "", 1)
				ofKey := (before+len(key))*8/6 - (before*8+5)/6
				if len(shown) > len("got "+said+" from you")-ofKey {
					t.Errorf("%q is shown as %s", sent, shown)
				}
			}
		}
	}
}

// A server that quotes what it got may encode it, also with something in front, or cut it.
func TestPartsAndEncodingsOfKeysAreMasked(t *testing.T) {
	for _, key := range []string{"sk-Proj/Abc+dEf=ghIJ?>k~lmnop0123456789", "sk-Proj/Abc+dEf=ghIJ?>k~lmnop01234567", "hunter2-is-8"} {
		checkEncoded(t, key)
	}
	const key = "sk-Proj/Abc+dEf=ghIJ?>k~lmnop0123456789"
	s := secretsOf(key)
	for from := range len(key) - partLength + 1 {
		for to := from + partLength; to <= len(key); to++ {
			if got := s.Mask("401 " + key[from:to] + "***"); got != "401 <redacted>***" {
				t.Errorf("%s is shown as %s", key[from:to], got)
			}
		}
	}
	if got := secretsOf("sk/ab+cd/ef=gh").Mask("sk%2fab%2bcd%2fef%3dgh"); got != Mark {
		t.Error(got)
	}
	for said, want := range map[string]string{
		"sk-Proj": "sk-Proj", "": "", "12345678": "<redacted>",
		key[3:12] + key[20:31] + "x" + key[:9] + " z": "<redacted>x<redacted> z",
	} {
		if got := s.Mask(said); got != want {
			t.Errorf("%s is shown as %s, want %s", said, got, want)
		}
	}
	if part := key[:20]; s.MaskWhole(part) != part || s.MaskWhole("a"+key) != "a<redacted>" {
		t.Error("the text of a model is changed where no whole key stands")
	}
	if s.In(key[1:]) || !s.In("a"+key) {
		t.Error("In is wrong")
	}
}

// Values of headers that are no keys are secret as a whole alone: an error about another media type
// stays readable.
func TestPartsOfOtherHeadersAreShown(t *testing.T) {
	var s Secrets
	s.AddHeader("Accept", "application/json")
	s.AddHeader("X-API-Key", "token-1234567")
	if got := s.Mask("application/json application/xml token-12345"); got != "<redacted> application/xml <redacted>" {
		t.Error(got)
	}
	var joined Secrets
	joined.Join(s)
	if joined.Add("another-key"); joined.Mask("another- token-12") != "<redacted> <redacted>" || s.Mask("another- token-12") != "another- <redacted>" {
		t.Error("secrets are joined wrong, or shared")
	}
}

func TestKeysInBodiesAreSecrets(t *testing.T) {
	for body, want := range map[string]string{
		`{"api_key":"key-1"}`:                     `{"api_key": "<redacted>"}`,
		`{"a": [{"auth": {"user": "u-ser"}}, 1]}`: `{"a": [{"auth": {"user": "<redacted>"}}, 1]}`,
		`{"apiKey": "k", "x-amz-signature": ["sign", 2, null], "clientSecret": "secret"}`:                       `{"apiKey": "<redacted>", "x-amz-signature": ["<redacted>", "<redacted>", null], "clientSecret": "<redacted>"}`,
		`{"max_tokens": 5,"stop_tokens":["a"],"tokenizer": "abc", "monkey": "text", "turkey":1,"codec":"text"}`: `{"max_tokens": 5,"stop_tokens":["a"],"tokenizer": "abc", "monkey": "text", "turkey":1,"codec":"text"}`,
		`{"password": 123456789, "api_keys": ["sk-1"], "userAPIKey": "k", "db_pass": "p", "pwd": "p"}`:          `{"password": "<redacted>", "api_keys": ["<redacted>"], "userAPIKey": "<redacted>", "db_pass": "<redacted>", "pwd": "<redacted>"}`,
		`{"pad_token": "</s>", "prompt_cache_key": "chat", "stop_token": "x", "n": 1}`:                          `{"pad_token": "</s>", "prompt_cache_key": "chat", "stop_token": "x", "n": 1}`,
		`{"json_schema": {"properties": {"token": {"type": "string"}}}}`:                                        `{"json_schema": {"properties": {"token": {"type": "string"}}}}`,
		`{"url": "http://u:abcdefghij@h/x", "other": "http://h/x"}`:                                             `{"url": "http://u:<redacted>@h/x", "other": "http://h/x"}`,
		`{'api_keys': 'sk-1'}`: `<redacted>`,
		`{"password": 12`:      `<redacted>`,
		`{"top_p": 12`:         `{"top_p": 12`,
	} {
		if got := JSON(body); got != want {
			t.Errorf("%s is shown as %s", body, got)
		}
	}
	value, err := pyjson.Parse(`{"a": [{"auth": {"user": "u-ser"}}, 1], "text": "shown"}`)
	if err != nil {
		t.Fatal(err)
	}
	var s Secrets
	if s.AddMembers(value); s.Mask("u-ser shown") != "<redacted> shown" {
		t.Error(s.Mask("u-ser shown"))
	}
}

func TestAShortSecretIsMaskedBesideItsName(t *testing.T) {
	var s Secrets
	s.AddHeader("X-Pin", "a7")
	for said, want := range map[string]string{
		"x-pin: a7, b": "<redacted>, b", `{"X-Pin":"a7"}`: `{"<redacted>"}`, `'x-pin': 'a7'`: `'<redacted>'`, "X-Pin=a7": "<redacted>",
		"a7": "a7",
	} {
		if got := s.Mask(said); got != want {
			t.Errorf("%s: %s", said, got)
		}
	}
}

func TestTheLongerOfTwoSecretsIsMaskedWhole(t *testing.T) {
	var s, more Secrets
	s.Add("abcd")
	more.Add("abcdefgh")
	s.Join(more)
	if got := s.Mask("abcdefgh abcd"); got != "<redacted> <redacted>" {
		t.Error(got)
	}
}

// A URL may escape more than it must, and in small letters, and stands so in the
// process list.
func TestPasswordsAreSecretsAsTheirURLHasThem(t *testing.T) {
	for link, want := range map[string]string{
		"http://me:p%40ss$word@h.test/v1":     "http://me:<redacted>@h.test/v1",
		"https://me:s3cr%2fet@h.test/a@b":     "https://me:<redacted>@h.test/a@b",
		"https://t0k%65n%3d@h.test":           "https://<redacted>@h.test",
		"me:p%40ssword@proxy.test:3128":       "me:<redacted>@proxy.test:3128",
		"http://h.test:1/who@where":           "http://h.test:1/who@where",
		"http://me:p4ss:word@[::1]:80/?a@b#c": "http://me:<redacted>@[::1]:80/?a@b#c",
	} {
		var s Secrets
		if s.AddCredentials(link); s.Mask(link) != want {
			t.Errorf("%s is shown as %s", link, s.Mask(link))
		}
	}
}
