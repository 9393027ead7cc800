package main

import (
	"fmt"
	"math/rand/v2"
)

// The shape of the tiny model: a llama in all its parts, so small that even a
// server compiled without vector instructions reads thousands of tokens a second.
const (
	dim     = 32
	layers  = 2
	heads   = 2
	kvHeads = 1
	ffn     = 64
)

// Kinds of token, as the format numbers them.
const (
	normal  int32 = 1
	unknown int32 = 2
	control int32 = 3
	byteTok int32 = 6
)

// A vocabulary is what a SentencePiece model has.
type vocabulary struct {
	pieces []string
	scores []float32
	kinds  []int32
}

func (v *vocabulary) add(piece string, score float32, kind int32) {
	v.pieces = append(v.pieces, piece)
	v.scores = append(v.scores, score)
	v.kinds = append(v.kinds, kind)
}

// newVocabulary has the words of the tokenizer stub-32000 as single tokens, and
// the printable characters for all else.
func newVocabulary() *vocabulary {
	v := new(vocabulary)
	v.add("<unk>", 0, unknown)
	v.add("<s>", 0, control)
	v.add("</s>", 0, control)
	for b := range 256 {
		v.add(fmt.Sprintf("<0x%02X>", b), 0, byteTok)
	}
	// A tokenizer of this kind joins neighbours, the highest score first, and every
	// step on the way has to be a piece: the shorter words are, for the longer.
	for i, piece := range []string{"to", "tok", "▁tok"} {
		v.add(piece, -1-float32(i), normal)
	}
	for word := range 32000 {
		v.add(fmt.Sprintf("▁tok%d", word), -10, normal)
	}
	v.add("▁", -20, normal)
	for c := '!'; c <= '~'; c++ {
		v.add(string(c), -20, normal)
	}
	return v
}

// model is a GGUF file of a llama with random weights, the same each time. Only single
// characters come out of it. So it never stops early; a server sends one chunk
// for each token, as none is half a character; and an answer is one word to the
// tokenizer stub-32000, whose counts cannot be mistaken for the server's.
func model() []byte {
	vocab := newVocabulary()
	g := new(gguf)
	describe(g, vocab)
	w := weights{rand.New(rand.NewPCG(1, 2))}
	n := uint64(len(vocab.pieces))

	// The first hidden value is the same for each token, no layer writes to it, and
	// from it the output takes what keeps all other tokens from ever coming.
	embedding := w.normal(n*dim, 1)
	output := w.normal(n*dim, 0.5)
	for i, piece := range vocab.pieces {
		embedding[i*dim] = 4
		output[i*dim] = -100
		if len(piece) == 1 {
			output[i*dim] = 0
		}
	}
	g.add("token_embd.weight", embedding, dim, n)
	for layer := range layers {
		w.layer(g, fmt.Sprintf("blk.%d.", layer))
	}
	g.add("output_norm.weight", ones(dim), dim)
	g.add("output.weight", output, dim, n)
	return g.encode()
}

func describe(g *gguf, vocab *vocabulary) {
	g.set("general.architecture", "llama")
	g.set("general.name", "tiny")
	g.set("general.file_type", uint32(0))
	g.set("llama.context_length", uint32(2048))
	g.set("llama.embedding_length", uint32(dim))
	g.set("llama.block_count", uint32(layers))
	g.set("llama.feed_forward_length", uint32(ffn))
	g.set("llama.attention.head_count", uint32(heads))
	g.set("llama.attention.head_count_kv", uint32(kvHeads))
	g.set("llama.attention.layer_norm_rms_epsilon", float32(1e-5))
	g.set("llama.rope.dimension_count", uint32(dim/heads))
	g.set("llama.vocab_size", uint32(len(vocab.pieces)))
	g.set("tokenizer.ggml.model", "llama")
	g.set("tokenizer.ggml.tokens", vocab.pieces)
	g.set("tokenizer.ggml.scores", vocab.scores)
	g.set("tokenizer.ggml.token_type", vocab.kinds)
	g.set("tokenizer.ggml.unknown_token_id", uint32(0))
	g.set("tokenizer.ggml.bos_token_id", uint32(1))
	g.set("tokenizer.ggml.eos_token_id", uint32(2))
	g.set("tokenizer.ggml.add_bos_token", true)
}

// weights draws random tensors.
type weights struct{ rng *rand.Rand }

func (w weights) layer(g *gguf, prefix string) {
	const kv = dim / heads * kvHeads
	g.add(prefix+"attn_norm.weight", ones(dim), dim)
	g.add(prefix+"attn_q.weight", w.normal(dim*dim, 0.1), dim, dim)
	g.add(prefix+"attn_k.weight", w.normal(dim*kv, 0.1), dim, kv)
	g.add(prefix+"attn_v.weight", w.normal(dim*kv, 0.1), dim, kv)
	g.add(prefix+"attn_output.weight", w.silentFirst(dim, 0.1), dim, dim)
	g.add(prefix+"ffn_norm.weight", ones(dim), dim)
	g.add(prefix+"ffn_gate.weight", w.normal(dim*ffn, 0.1), dim, ffn)
	g.add(prefix+"ffn_up.weight", w.normal(dim*ffn, 0.1), dim, ffn)
	g.add(prefix+"ffn_down.weight", w.silentFirst(ffn, 0.1), ffn, dim)
}

// normal draws n numbers around 0 with the standard deviation sd.
func (w weights) normal(n uint64, sd float64) []float32 {
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(sd * w.rng.NormFloat64())
	}
	return data
}

// silentFirst draws a matrix from in values to dim that adds nothing to the
// first of them.
func (w weights) silentFirst(in uint64, sd float64) []float32 {
	data := w.normal(in*dim, sd)
	clear(data[:in])
	return data
}

func ones(n int) []float32 {
	data := make([]float32, n)
	for i := range data {
		data[i] = 1
	}
	return data
}
