package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// A load is what a run sends, and how fast the server answers.
type load struct {
	name   string
	ttft   float64 // ms
	itl    float64 // ms
	output int     // tokens of an answer
	flags  string  // of servebench run; OUTPUT stands for the tokens of an answer
	secure bool    // by HTTPS, with HTTP/2
}

const (
	ids   = "--prompt-token-ids --vocab-size 32000 --random-output-len OUTPUT "
	text  = "--tokenizer stub-32000 --ignore-eos "
	short = ids + "--random-input-len 100 "
)

// loads are all loads, with the numbers that limits may be chosen by.
var loads = []load{
	{name: "demo16w", ttft: 50, itl: 10, output: 20,
		flags: short + "--num-prompts 200 --max-concurrency 16 --warm-connections"},
	{name: "closed16c", ttft: 50, itl: 10, output: 20,
		flags: short + "--num-prompts 160 --max-concurrency 16"},
	{name: "closed64w", ttft: 50, itl: 10, output: 20,
		flags: short + "--num-prompts 640 --max-concurrency 64 --warm-connections"},
	{name: "closed256w", ttft: 50, itl: 10, output: 20,
		flags: short + "--num-prompts 2048 --max-concurrency 256 --warm-connections"},
	{name: "poisson20", ttft: 50, itl: 10, output: 20,
		flags: short + "--num-prompts 60 --request-rate 20 --warm-connections"},
	{name: "poisson100", ttft: 50, itl: 10, output: 20,
		flags: short + "--num-prompts 300 --request-rate 100 --warm-connections"},
	{name: "poisson300c", ttft: 50, itl: 10, output: 20,
		flags: short + "--num-prompts 900 --request-rate 300"},
	{name: "long", ttft: 50, itl: 5, output: 250,
		flags: ids + "--random-input-len 500 --num-prompts 64 --max-concurrency 32 --warm-connections"},
	{name: "short", ttft: 50, itl: 10, output: 4,
		flags: ids + "--random-input-len 1000 --num-prompts 960 --max-concurrency 32 --warm-connections"},
	{name: "chat", ttft: 50, itl: 10, output: 20,
		flags: text + "--random-output-len OUTPUT --random-input-len 100 --num-prompts 150 --request-rate 50 " +
			"--backend openai-chat --endpoint /v1/chat/completions"},
	{name: "sessions", ttft: 50, itl: 10, output: 20,
		flags: text + "--dataset-name sessions --session-output-len OUTPUT " +
			"--num-prompts 40 --session-turns 3 --request-rate 20 --session-think-time 0.1"},
	{name: "inf1000w", ttft: 50, itl: 10, output: 20,
		flags: short + "--num-prompts 1000 --warm-connections"},
	{name: "inf1000c", ttft: 50, itl: 10, output: 20,
		flags: short + "--num-prompts 1000"},
	{name: "fast64w", ttft: 10, itl: 3, output: 20,
		flags: short + "--num-prompts 1600 --max-concurrency 64 --warm-connections"},
	{name: "h2", ttft: 50, itl: 40, output: 20, secure: true,
		flags: short + "--num-prompts 60 --max-concurrency 6"},
	{name: "h2-100", ttft: 50, itl: 10, output: 20, secure: true,
		flags: short + "--num-prompts 150 --request-rate 50"},
}

// A set of loads is those that limits may be chosen by, or those that check the choice.
type set string

const (
	tune  set = "tune"
	check set = "check"
)

// of is the n-th variation of a load in a set, and the seed of its prompts and due times. Runs of
// one n have the same under all conditions.
func (s set) of(l load, seed uint64, n int) (load, int) {
	h := fnv.New64a()
	fmt.Fprint(h, l.name, " ", n)
	random := rand.New(rand.NewPCG(seed, h.Sum64()))
	workload := random.IntN(1 << 30)
	if s != check {
		return l, workload
	}
	between := func(low, high float64) float64 { return float64(int(10*(low+random.Float64()*(high-low)))) / 10 }
	l.output = max(2, int(float64(l.output)*between(0.7, 1.4)))
	if l.ttft < 30 { // stays fast
		l.ttft, l.itl = between(6, 16), between(2, 5)
		return l, workload
	}
	l.ttft, l.itl = between(30, 80), between(5, 40)
	return l, workload
}

// arguments are what servebench run gets.
func (l *load) arguments(url, records string, seed int) []string {
	flags := "run --base-url " + url + " --model m --disable-tqdm --percentile-metrics ttft,tpot,itl,e2el " + l.flags
	if l.secure {
		flags += " --http2 --insecure"
	}
	flags = strings.ReplaceAll(flags, "OUTPUT", fmt.Sprint(l.output))
	return append(strings.Fields(flags), "--seed", fmt.Sprint(seed), "-o", records)
}
