package embeddings

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
)

// A usage counts the tokens of a request.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Total      int `json:"total_tokens"`
	Completion int `json:"completion_tokens"`
}

// answer writes the answer, with embeddings of that many dimensions unless the request sets it.
func (a *requestBody) answer(w http.ResponseWriter, u *usage, dimensions int) {
	dimensions = cmp.Or(a.Dimensions, dimensions)
	switch {
	case strings.HasSuffix(a.path, "rerank"):
		a.ranked(w, u)
	case strings.HasSuffix(a.path, "score"):
		a.listed(w, u, "score", func(i int) any { return a.score(i) })
	case a.Encoding == "bytes" || a.Encoding == "bytes_only":
		a.raw(w, u, dimensions)
	case strings.HasSuffix(a.path, "pooling"):
		a.listed(w, u, "data", func(i int) any { return a.vector(i, dimensions) })
	case a.Encoding == "base64":
		a.listed(w, u, "embedding", func(i int) any {
			return base64.StdEncoding.EncodeToString(packed(a.vector(i, dimensions)))
		})
	default:
		a.listed(w, u, "embedding", func(i int) any { return a.vector(i, dimensions) })
	}
}

// objects are how answers name what a sequence gets under a key.
var objects = map[string]string{"score": "score", "data": "pooling", "embedding": "embedding"}

// listed writes a list with what each sequence gets under a key.
func (a *requestBody) listed(w http.ResponseWriter, u *usage, key string, of func(i int) any) {
	data := make([]map[string]any, len(a.sequences))
	for i := range data {
		data[i] = map[string]any{"index": i, "object": objects[key], key: of(i)}
	}
	write(w, map[string]any{"object": "list", "model": a.Model, "data": data, "usage": u})
}

// ranked writes the documents, the best first.
func (a *requestBody) ranked(w http.ResponseWriter, u *usage) {
	type result struct {
		Index    int      `json:"index"`
		Document document `json:"document"`
		Score    float64  `json:"relevance_score"`
	}
	results := make([]result, len(a.Documents))
	for i := range results {
		results[i] = result{i, a.Documents[i], a.score(i)}
	}
	slices.SortStableFunc(results, func(x, y result) int { return cmp.Compare(y.Score, x.Score) })
	if a.Top > 0 && a.Top < len(results) {
		results = results[:a.Top]
	}
	write(w, map[string]any{"model": a.Model, "results": results, "usage": u})
}

// raw writes the vectors as bytes, with the rest of the answer in a header, or without it.
func (a *requestBody) raw(w http.ResponseWriter, u *usage, dimensions int) {
	if a.Encoding == "bytes" {
		w.Header().Set("Metadata", string(mustJSON(map[string]any{"object": "list", "model": a.Model, "usage": u})))
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	for i := range a.sequences {
		w.Write(packed(a.vector(i, dimensions)))
	}
}

// draw is a generator that follows from the text of a sequence.
func (a *requestBody) draw(i int) *rand.Rand {
	h := fnv.New64a()
	h.Write(a.sequences[i].prompt)
	h.Write(a.sequences[i].messages)
	return rand.New(rand.NewPCG(h.Sum64(), 0))
}

// score is how well a pair fits, from 0 to 1.
func (a *requestBody) score(i int) float64 { return a.draw(i).Float64() }

// vector is the embedding of a sequence, of length 1.
func (a *requestBody) vector(i, dimensions int) []float32 {
	r, sum := a.draw(i), 0.0
	v := make([]float32, dimensions)
	for k := range v {
		x := r.NormFloat64()
		v[k], sum = float32(x), sum+x*x
	}
	for k := range v {
		v[k] /= float32(math.Sqrt(sum))
	}
	return v
}

// packed is a vector as bytes, the lowest first.
func packed(v []float32) (b []byte) {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Write(mustJSON(v))
}

// refuse answers with an error, as the server of completions does.
func refuse(w http.ResponseWriter, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	w.Write(mustJSON(map[string]any{"error": map[string]any{
		"message": message, "type": "BadRequestError", "param": nil, "code": http.StatusBadRequest,
	}}))
}

// mustJSON encodes what encoding/json always accepts.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
