package metrics

// Traits are what numbers, checks and remedies need to know of a run's API and workload. Whoever plans a run sets
// them: a report knows no name of an API, of a dataset or of a flag. The zero value is of text that an API
// without chats completes.
type Traits struct {
	// Chat says that answers are streamed as a chat's: a chunk may hold a role alone.
	Chat bool `json:"chat,omitempty"`
	// Pooled says that an answer is numbers for whole prompts: embeddings or scores.
	Pooled bool `json:"pooled,omitempty"`
	// Spoken says that requests are sounds to transcribe or translate. Only for these vLLM's client has RTFx.
	Spoken bool `json:"spoken,omitempty"`
	// LengthMember is the member of a request's body that bounds its answer.
	LengthMember string `json:"length_member,omitempty"`
	// OwnLength says that the body bounds answers itself, or asks for several.
	OwnLength bool `json:"own_length,omitempty"`
	// Answers is how many answers each request asks for; 0 for one. To the server, each is a request, with the
	// same prompt.
	Answers int `json:"answers,omitempty"`
	// CountsLast says that a stream cannot be asked to count its tokens with every chunk, and CountsEach that it
	// was asked.
	CountsLast bool `json:"counts_last,omitempty"`
	CountsEach bool `json:"counts_each,omitempty"`

	// Templated says that the server puts prompts into a chat template, and Rendered that the client does.
	Templated bool `json:"templated,omitempty"`
	Rendered  bool `json:"rendered,omitempty"`
	// SharedPrefixes says that the prompts share a beginning, or repeat, because the workload is made so.
	SharedPrefixes bool `json:"shared_prefixes,omitempty"`
	// Fewer says that the run may have fewer requests than NumPrompts, since its dataset may have fewer.
	Fewer bool `json:"fewer,omitempty"`

	// Piped says that the record stream went to standard output, where lines of other programs may come between.
	Piped bool `json:"piped,omitempty"`
	// Alone says that one machine must make the whole run: several shards cannot.
	Alone bool `json:"alone,omitempty"`
	// Socket says that the server is at a Unix socket, behind which there are no other URLs.
	Socket bool `json:"socket,omitempty"`
	// SessionSlots is the flag that bounds the sessions in progress, and Shorter says how prompts get shorter;
	// empty if there is no flag for it.
	SessionSlots string `json:"session_slots,omitempty"`
	Shorter      string `json:"shorter,omitempty"`
}
