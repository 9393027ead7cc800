package speed

// A Batch counts what one step works on.
type Batch struct {
	Decoding float64 // requests that produce a token
	Prompt   float64 // prompt tokens prefilled
	Attended float64 // sum over prompt tokens of the tokens before them
	Context  float64 // sum over decoding requests of their tokens so far
	Far      float64 // decoding requests with a long prompt
}

// farPrompt is the longest prompt that does not count as far.
const farPrompt = 8192

// Decode adds a request that decodes after so many tokens of its prompt and of its output.
func (b *Batch) Decode(prompt, out int) {
	b.Decoding++
	b.Context += float64(prompt + out)
	if prompt > farPrompt {
		b.Far++
	}
}

// Prefill adds a chunk of a prompt of which so many tokens are done.
func (b *Batch) Prefill(chunk, done int) {
	b.Prompt += float64(chunk)
	tokens, before := float64(chunk), float64(done)
	b.Attended += tokens * (before + tokens/2)
}

// Add adds the work of another step.
func (b *Batch) Add(o Batch) {
	b.Decoding += o.Decoding
	b.Prompt += o.Prompt
	b.Attended += o.Attended
	b.Context += o.Context
	b.Far += o.Far
}

// Split is the work of each of n steps that share b equally.
func (b Batch) Split(n float64) Batch {
	return Batch{
		Decoding: b.Decoding / n, Prompt: b.Prompt / n, Attended: b.Attended / n, Context: b.Context / n, Far: b.Far / n,
	}
}
