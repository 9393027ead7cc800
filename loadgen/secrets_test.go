package loadgen

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"
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
		if trimmed := strings.NewReplacer(Redacted, "", `"`, "").Replace(got); trimmed != "a  b" {
			t.Errorf("%s is shown as %s", said, got)
		}
	}
	if got := s.Mask(base64.RawURLEncoding.EncodeToString([]byte(value + " and more"))); len(got) > len(Redacted)+len("k and more")*3/2 {
		t.Error(got)
	}
	if got := s.Mask(`a se"c<r… and "se\"c<… b`); got != "a <redacted>… and \"<redacted>… b" {
		t.Error(got)
	}
	if got := s.Mask("a se… b"); got != "a se… b" {
		t.Error(got)
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
