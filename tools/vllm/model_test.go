//go:build vllm

package vllm_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The shape of the model: a llama in all its parts, as small as the attention of
// vLLM for CPUs takes it.
const (
	hidden  = 64
	layers  = 2
	heads   = 2
	kvHeads = 1
	headDim = hidden / heads
	inner   = 128
	longest = 2048 // tokens of a prompt and its answer
)

// chatML is the chat template.
const chatML = "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}" +
	"{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"

// specials are the special tokens. None is ever generated, so no answer ends early.
var specials = []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"}

// A model is a folder as Hugging Face lays one out. Its tokenizer is there again, in a
// folder of its own: vLLM's client without torch reads no model's config.json.
type model struct{ dir, tokenizer string }

// writeModel writes a model of language with random weights, the same each time.
func writeModel(t *testing.T) model {
	t.Helper()
	return writeLlama(t, "LlamaForCausalLM")
}

// writeRanker writes a cross-encoder: the same model with a score in place of words.
func writeRanker(t *testing.T) model {
	t.Helper()
	return writeLlama(t, "LlamaForSequenceClassification")
}

func writeLlama(t *testing.T, architecture string) model {
	t.Helper()
	m := model{t.TempDir(), t.TempDir()}
	words := writeTokenizer(t, m.tokenizer)
	writeTokenizer(t, m.dir)
	writeJSON(t, m.dir, "config.json", map[string]any{
		"architectures": []string{architecture}, "model_type": "llama", "dtype": "float32",
		"hidden_size": hidden, "intermediate_size": inner, "num_hidden_layers": layers,
		"num_attention_heads": heads, "num_key_value_heads": kvHeads, "head_dim": headDim,
		"vocab_size": words + len(specials), "max_position_embeddings": longest, "hidden_act": "silu",
		"rms_norm_eps": 1e-5, "rope_theta": 10000, "tie_word_embeddings": false,
		"bos_token_id": words, "eos_token_id": words + 2, "pad_token_id": words,
		"id2label": map[string]string{"0": "score"}, "label2id": map[string]int{"score": 0},
	})
	all := weights(words)
	if architecture != "LlamaForCausalLM" {
		all[slices.IndexFunc(all, func(t tensor) bool { return t.name == "lm_head.weight" })] = newDrawer(3).draw("score.weight", 1, hidden)
	}
	writeTensors(t, filepath.Join(m.dir, "model.safetensors"), all)
	return m
}

// adapterRank is the rank of adapters.
const adapterRank = 8

// writeAdapter writes a LoRA adapter of the model with random weights, into a new folder.
func writeAdapter(t *testing.T, seed uint64) (dir string) {
	t.Helper()
	dir = t.TempDir()
	writeJSON(t, dir, "adapter_config.json", map[string]any{
		"peft_type": "LORA", "task_type": "CAUSAL_LM", "base_model_name_or_path": served, "bias": "none",
		"r": adapterRank, "lora_alpha": 2 * adapterRank, "lora_dropout": 0, "target_modules": []string{"q_proj", "v_proj"},
	})
	drawer := newDrawer(seed)
	var all []tensor
	for i := range layers {
		layer := fmt.Sprintf("base_model.model.model.layers.%d.self_attn.", i)
		all = append(all,
			drawer.draw(layer+"q_proj.lora_A.weight", adapterRank, hidden),
			drawer.draw(layer+"q_proj.lora_B.weight", hidden, adapterRank),
			drawer.draw(layer+"v_proj.lora_A.weight", adapterRank, hidden),
			drawer.draw(layer+"v_proj.lora_B.weight", kvHeads*headDim, adapterRank))
	}
	writeTensors(t, filepath.Join(dir, "adapter_model.safetensors"), all)
	return dir
}

func writeTensors(t *testing.T, name string, all []tensor) {
	t.Helper()
	data, err := safetensors(all)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, name, data)
}

// writeTokenizer gives the number of words in it, without the special tokens.
func writeTokenizer(t *testing.T, dir string) (words int) {
	t.Helper()
	vocab, merges := byteLevel()
	var added []any
	for i, content := range specials {
		added = append(added, map[string]any{"id": len(vocab) + i, "content": content, "special": true,
			"single_word": false, "lstrip": false, "rstrip": false, "normalized": false})
	}
	level := map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}
	writeJSON(t, dir, "tokenizer.json", map[string]any{
		"version": "1.0", "added_tokens": added, "pre_tokenizer": level, "decoder": level,
		"model": map[string]any{"type": "BPE", "vocab": vocab, "merges": merges},
	})
	writeJSON(t, dir, "tokenizer_config.json", map[string]any{
		"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": longest,
		"eos_token": specials[2], "pad_token": specials[0], "chat_template": chatML,
	})
	return len(vocab)
}

func writeJSON(t *testing.T, dir, name string, value any) {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, name), data)
}

func writeFile(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// byteLevel makes a vocabulary of all bytes, in the letters by which GPT-2 writes
// them, and of words of two and three letters.
func byteLevel() (vocab map[string]int, merges [][2]string) {
	vocab = map[string]int{}
	for b, other := 0, rune(256); b < 256; b++ {
		letter := rune(b)
		if b <= ' ' || b > '~' && b < 0xa1 || b == 0xad {
			letter = other
			other++
		}
		vocab[string(letter)] = len(vocab)
	}
	merge := func(a, b string) {
		vocab[a+b] = len(vocab)
		merges = append(merges, [2]string{a, b})
	}
	for _, first := range "Ġabcdefghijklmnopqrstuvwxyz" {
		for second := 'a'; second <= 'z'; second++ {
			merge(string(first), string(second))
		}
	}
	for _, pair := range merges {
		for _, third := range "aeioulnrst" {
			merge(pair[0]+pair[1], string(third))
		}
	}
	return vocab, merges
}

// A tensor is a matrix, or a vector where columns is 0, row by row.
type tensor struct {
	name          string
	rows, columns int
	data          []float32
}

// A drawer draws weights.
type drawer struct{ *rand.Rand }

func newDrawer(seed uint64) drawer { return drawer{rand.New(rand.NewPCG(seed, 2))} }

func (d drawer) draw(name string, rows, columns int) tensor {
	t := tensor{name, rows, columns, make([]float32, rows*columns)}
	for i := range t.data {
		t.data[i] = float32(0.2 * d.NormFloat64())
	}
	return t
}

// weights draws those of a model with so many words beside the specials. The
// first hidden value is the same for each token, no layer writes to it, and from
// it the output takes what keeps special tokens from ever coming.
func weights(words int) []tensor {
	draw := newDrawer(1).draw
	silentFirst := func(t tensor) tensor {
		clear(t.data[:t.columns])
		return t
	}
	vocab := words + len(specials)
	embedding, output := draw("model.embed_tokens.weight", vocab, hidden), draw("lm_head.weight", vocab, hidden)
	for id := range vocab {
		embedding.data[id*hidden] = 1
		output.data[id*hidden] = 0
		if id >= words {
			output.data[id*hidden] = -1000
		}
	}
	all := []tensor{embedding, output, ones("model.norm.weight")}
	for i := range layers {
		layer := fmt.Sprintf("model.layers.%d.", i)
		all = append(all,
			ones(layer+"input_layernorm.weight"),
			draw(layer+"self_attn.q_proj.weight", hidden, hidden),
			draw(layer+"self_attn.k_proj.weight", kvHeads*headDim, hidden),
			draw(layer+"self_attn.v_proj.weight", kvHeads*headDim, hidden),
			silentFirst(draw(layer+"self_attn.o_proj.weight", hidden, hidden)),
			ones(layer+"post_attention_layernorm.weight"),
			draw(layer+"mlp.gate_proj.weight", inner, hidden),
			draw(layer+"mlp.up_proj.weight", inner, hidden),
			silentFirst(draw(layer+"mlp.down_proj.weight", hidden, inner)))
	}
	return all
}

func ones(name string) tensor {
	t := tensor{name, hidden, 0, make([]float32, hidden)}
	for i := range t.data {
		t.data[i] = 1
	}
	return t
}

// safetensors encodes tensors as that format does: the length of a header, the
// header in JSON, and the numbers, little-endian.
func safetensors(all []tensor) ([]byte, error) {
	type entry struct {
		Type    string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	header, offset := map[string]entry{}, 0
	for _, t := range all {
		shape := []int{t.rows, t.columns}
		if t.columns == 0 {
			shape = shape[:1]
		}
		header[t.name] = entry{"F32", shape, [2]int{offset, offset + 4*len(t.data)}}
		offset += 4 * len(t.data)
	}
	text, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(text))))
	b.Write(text)
	for _, t := range all {
		if err := binary.Write(&b, binary.LittleEndian, t.data); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}
