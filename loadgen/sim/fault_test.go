package sim

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/sim/faults"
)

// An outcome is what the real client saw of a reply.
type outcome struct {
	doErr, readErr error
	status         int
	header         http.Header
	reads          []string // what each read of the body returned
	took           time.Duration
}

var created = regexp.MustCompile(`"created":\d+`)

// body is all that was read, as if it had been made when the bubble began.
func (o outcome) body() string {
	return created.ReplaceAllString(strings.Join(o.reads, ""), `"created":946684800`)
}

// meet sends a request that is to be met with faults and reads on for an hour
// at most.
func (h *harness) meet(fault, path, body string) (o outcome) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Hour)
	defer cancel()
	r := h.request(ctx, path, "r-1", body)
	r.Header.Set(faults.Header, fault)
	start := time.Now()
	defer func() { o.took = time.Since(start) }()
	resp, err := h.client.Do(r)
	if err != nil {
		o.doErr = err
		return o
	}
	defer resp.Body.Close()
	o.status, o.header = resp.StatusCode, resp.Header
	buf := make([]byte, 1<<16)
	for {
		n, err := resp.Body.Read(buf)
		if n > 0 {
			o.reads = append(o.reads, string(buf[:n]))
		}
		if err != nil {
			if err != io.EOF {
				o.readErr = err
			}
			return o
		}
	}
}

const (
	fiveTokens     = `{"prompt":"tok1 tok2","max_tokens":5,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}`
	fiveChatTokens = `{"messages":[{"content":"tok1 tok2"}],"max_tokens":5,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}`
)

func TestFaultsThatReplaceTheReply(t *testing.T) {
	bubble(t, Config{}, func(h *harness) {
		if o := h.meet("refuse", "/v1/completions", fiveTokens); !errors.Is(o.doErr, io.EOF) {
			t.Errorf("refuse: %v, want EOF", o.doErr)
		}
		if o := h.meet("never", "/v1/completions", fiveTokens); !errors.Is(o.doErr, context.DeadlineExceeded) || o.took != time.Hour {
			t.Errorf("never: %v after %v, want no reply for an hour", o.doErr, o.took)
		}
		for fault, want := range map[string]struct {
			status             int
			kind, retry, begin string
		}{
			"status":     {500, "application/json", "", `{"error":{"message":"Internal Server Error (simulated)","type":"InternalServerError","param":null,"code":500}}`},
			"status=429": {429, "application/json", "1", `{"error":{"message":"Too Many Requests (simulated)","type":"RateLimitError","param":null,"code":429}}`},
			"status=503": {503, "application/json", "1", `{"error":{"message":"Service Unavailable`},
			"status=401": {401, "application/json", "", `{"error":{"message":"Unauthorized (simulated)","type":"AuthenticationError"`},
			"html":       {502, "text/html", "", "<html>\r\n<head><title>502 Bad Gateway</title>"},
			"html=504":   {504, "text/html", "", "<html>\r\n<head><title>504 Gateway Timeout</title>"},
			"blank":      {503, "", "", ""},
			"empty":      {200, "text/event-stream; charset=utf-8", "", ""},
		} {
			o := h.meet(fault, "/v1/completions", fiveTokens)
			if o.doErr != nil || o.readErr != nil || o.status != want.status || !strings.HasPrefix(o.body(), want.begin) || (want.begin == "" && o.body() != "") {
				t.Errorf("%s: %v %v %d %q", fault, o.doErr, o.readErr, o.status, o.body())
			}
			if kind, retry := o.header.Get("Content-Type"), o.header.Get("Retry-After"); kind != want.kind || retry != want.retry {
				t.Errorf("%s: Content-Type %q, Retry-After %q", fault, kind, retry)
			}
		}
	})
}

func TestFaultsThatEndTheStream(t *testing.T) {
	bubble(t, Config{}, func(h *harness) {
		whole := h.meet("none", "/v1/completions", fiveTokens).body()
		first := func(n int) string { return strings.Join(strings.SplitAfter(whole, "\n\n")[:n], "") }
		const failure = `"message":"the simulated engine has failed","type":"InternalServerError","param":null,"code":500}`
		for _, row := range []struct {
			fault, want string
			err         error
		}{
			{"error=2", first(2) + `data: {"error":{` + failure + "}\n\ndata: [DONE]\n\n", nil},
			{"error-flat", first(1) + `data: {"object":"error",` + failure + "\n\ndata: [DONE]\n\n", nil},
			{"error=0", `data: {"error":{` + failure + "}\n\ndata: [DONE]\n\n", nil},
			{"truncate=3", first(3), nil},
			{"truncate=5", first(5), nil},
			{"truncate=6", whole, nil},
			{"cut=2", whole[:(len(first(2))+len(first(3)))/2], io.ErrUnexpectedEOF},
			{"stall=4", first(4), context.DeadlineExceeded},
			{"stall=0", "", context.DeadlineExceeded},
			{"stall=2,crlf", strings.ReplaceAll(first(2), "\n", "\r\n"), context.DeadlineExceeded},
			{"garbage=2", first(2) + "data: {\x00\xff\xfe\n\ndata: [DONE]\n\n", nil},
			{"huge-event=2", first(1) + "data: " + strings.Repeat("x", 2<<20) + "\n\n", nil},
			{"no-done", strings.TrimSuffix(whole, "data: [DONE]\n\n"), nil},
		} {
			o := h.meet(row.fault, "/v1/completions", fiveTokens)
			if o.doErr != nil || o.status != http.StatusOK || !errors.Is(o.readErr, row.err) {
				t.Errorf("%s: %v %v %d", row.fault, o.doErr, o.readErr, o.status)
			}
			if o.body() != row.want {
				t.Errorf("%s: got\n%s\nwant\n%s", row.fault, o.body(), row.want)
			}
			if stalls := row.err == context.DeadlineExceeded; stalls != (o.took == time.Hour) {
				t.Errorf("%s: took %v", row.fault, o.took)
			}
		}
	})
}

func TestAnEndlessAnswerGoesOnUntilTheClientGoes(t *testing.T) {
	bubble(t, Config{}, func(h *harness) {
		r := h.request(h.t.Context(), "/v1/completions", "r-1", fiveTokens)
		r.Header.Set(faults.Header, "endless=2")
		reply, err := h.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		lines, seen := bufio.NewScanner(reply.Body), map[string]int{}
		for range 3000 {
			if !lines.Scan() {
				t.Fatal(lines.Err())
			}
			seen[lines.Text()]++
		}
		reply.Body.Close()
		if len(seen) != 4 || seen[""] != 1500 {
			t.Errorf("%d different lines, %d of them blank", len(seen), seen[""])
		}
	})
}

func TestFaultsThatChangeTheFraming(t *testing.T) {
	bubble(t, Config{}, func(h *harness) {
		whole := h.meet("none", "/v1/completions", fiveTokens).body()
		for fault, want := range map[string]string{
			"none":               whole,
			"crlf":               strings.ReplaceAll(whole, "\n", "\r\n"),
			"cr":                 strings.ReplaceAll(whole, "\n", "\r"),
			"comment":            strings.ReplaceAll(whole, "data: ", ": ping\n\ndata: "),
			"event-line":         strings.ReplaceAll(whole, "data: ", "event: message\ndata: "),
			"no-space":           strings.ReplaceAll(whole, "data: ", "data:"),
			"multi-line":         strings.ReplaceAll(whole, `,"object"`, ",\ndata: "+`"object"`),
			"no-space, crlf":     strings.ReplaceAll(strings.ReplaceAll(whole, "data: ", "data:"), "\n", "\r\n"),
			"split=7":            whole,
			"merge=2":            whole,
			"comment,event-line": strings.ReplaceAll(whole, "data: ", ": ping\n\nevent: message\ndata: "),
		} {
			if o := h.meet(fault, "/v1/completions", fiveTokens); o.doErr != nil || o.readErr != nil || o.body() != want {
				t.Errorf("%s: %v %v got\n%q\nwant\n%q", fault, o.doErr, o.readErr, o.body(), want)
			}
		}
	})
}

func TestFaultsThatChangeWhatAWriteHolds(t *testing.T) {
	events := func(reads []string) (counts []int) {
		for _, r := range reads {
			counts = append(counts, strings.Count(r, "\n\n"))
		}
		return counts
	}
	bubble(t, Config{}, func(h *harness) {
		for _, row := range []struct {
			fault, path, body string
			want              []int
		}{
			{"none", "/v1/completions", fiveTokens, []int{1, 1, 1, 1, 3}},
			{"none", "/v1/chat/completions", fiveChatTokens, []int{2, 1, 1, 1, 3}},
			{"merge=2", "/v1/completions", fiveTokens, []int{2, 2, 3}},
			{"merge=100", "/v1/completions", fiveTokens, []int{7}},
			{"tokens=2", "/v1/completions", fiveTokens, []int{1, 1, 3}},
		} {
			if got := events(h.meet(row.fault, row.path, row.body).reads); !slices.Equal(got, row.want) {
				t.Errorf("%s on %s: reads hold %v events, want %v", row.fault, row.path, got, row.want)
			}
		}
		if o := h.meet("split=5", "/v1/completions", fiveTokens); len(o.reads) < 10 {
			t.Errorf("split=5: only %d reads", len(o.reads))
		}
		if o := h.meet("tokens=2", "/v1/completions", fiveTokens); strings.Count(o.body(), " tok") != 5 || !strings.Contains(o.body(), `"completion_tokens":5`) {
			t.Errorf("tokens=2: %s", o.body())
		}
	})
}

func TestFaultsOfUsage(t *testing.T) {
	const zero = `,"usage":{"prompt_tokens":0,"total_tokens":0,"completion_tokens":0}}`
	const all = `"usage":{"prompt_tokens":8,"total_tokens":13,"completion_tokens":5}}`
	bubble(t, Config{}, func(h *harness) {
		for fault, want := range map[string]map[string]int{
			"none":            {"usage": 1, `"choices":[],` + all: 1},
			"usage-zero":      {"usage": 7, zero: 6, `"choices":[],` + all: 1},
			"usage-null":      {"usage": 7, `}],"usage":null}`: 6, `"choices":[],` + all: 1},
			"usage-in-finish": {"usage": 1, `"finish_reason":"length","stop_reason":null}],` + all: 1},
		} {
			o := h.meet(fault, "/v1/chat/completions", fiveChatTokens)
			for text, n := range want {
				if got := strings.Count(o.body(), text); got != n {
					t.Errorf("%s: %d times %s, want %d, in\n%s", fault, got, text, n, o.body())
				}
			}
		}
	})
}

func TestAnAnswerCanBeShorterOrLongerThanAskedFor(t *testing.T) {
	bubble(t, Config{}, func(h *harness) {
		for n := 3; n <= 7; n += 4 {
			// The last token ends the text and is none of it.
			body := h.meet(fmt.Sprint("answer=", n), "/v1/completions", fiveTokens).body()
			for text, want := range map[string]int{" tok": n - 1, `"finish_reason":"stop"`: 1, fmt.Sprintf(`"completion_tokens":%d}`, n): 1, "[DONE]": 1} {
				if got := strings.Count(body, text); got != want {
					t.Errorf("%d tokens: %d times %s, want %d, in\n%s", n, got, text, want, body)
				}
			}
		}
	})
}

func TestFaultsMeetTheRequestsChosen(t *testing.T) {
	list := []faults.Fault{{Kind: "status", N: 500}}
	met := func(f faults.Plan, seed uint64, id string) (met []int) {
		bubble(t, Config{Faults: f, Seed: seed}, func(h *harness) {
			var mu sync.Mutex
			var wg sync.WaitGroup
			for i := range 40 {
				wg.Go(func() {
					name := id
					if id != "" {
						name = fmt.Sprint(id, i)
					}
					resp, err := h.client.Do(h.request(h.t.Context(), "/v1/completions", name, completion(1, 1)))
					if err != nil {
						t.Error(err)
						return
					}
					defer resp.Body.Close()
					io.Copy(io.Discard, resp.Body)
					if resp.StatusCode != http.StatusOK {
						mu.Lock()
						defer mu.Unlock()
						met = append(met, i)
					}
				})
			}
			wg.Wait()
		})
		slices.Sort(met)
		return met
	}
	if got := met(faults.Plan{List: list}, 0, "a-"); len(got) != 40 {
		t.Errorf("without a choice %d of 40 met, want all", len(got))
	}
	if got := met(faults.Plan{List: list, Every: 10}, 0, "a-"); !slices.Equal(got, []int{9, 19, 29, 39}) {
		t.Errorf("every 10th: %v", got)
	}
	if got := met(faults.Plan{List: list, Every: 10}, 0, ""); len(got) != 4 {
		t.Errorf("every 10th without ids: %v", got)
	}
	some := met(faults.Plan{List: list, Probability: .5}, 1, "a-")
	if len(some) < 10 || len(some) > 30 || !slices.Equal(some, met(faults.Plan{List: list, Probability: .5}, 1, "b-")) {
		t.Errorf("half of them: %v", some)
	}
	if slices.Equal(some, met(faults.Plan{List: list, Probability: .5}, 2, "a-")) {
		t.Error("two seeds choose the same requests")
	}
}

func TestAHeaderWithNonsenseIsRefused(t *testing.T) {
	bubble(t, Config{}, func(h *harness) {
		if o := h.meet("nonsense", "/v1/completions", fiveTokens); o.status != 400 || !strings.Contains(o.body(), "there is no fault") {
			t.Errorf("header with nonsense: %d %s", o.status, o.body())
		}
	})
}
