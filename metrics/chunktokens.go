package metrics

import "github.com/servebench/servebench/metrics/record"

// ChunkTokens says how the output tokens of completed requests came in chunks. The tokens of each
// chunk are known if the server counted them with every chunk, or if the request has as many tokens
// as chunks, apart from a role and a finish chunk.
type ChunkTokens struct {
	Known   int   `json:"known"`             // requests whose tokens are known chunk by chunk
	Bundled int   `json:"bundled,omitempty"` // others, with more tokens than chunks
	Fewer   int   `json:"fewer,omitempty"`   // others, with fewer: without usage, or with empty chunks
	Chunks  int64 `json:"chunks"`            // that carried tokens, in known and bundled requests
	Blank   int64 `json:"blank,omitempty"`   // that carried none, in known requests
	Tokens  int64 `json:"tokens"`            // in known and bundled requests
	Largest int   `json:"largest,omitempty"` // most tokens in one chunk, in known requests
}

// Mean is the mean number of tokens in a chunk, 0 if unknown.
func (c ChunkTokens) Mean() float64 {
	if c.Chunks == 0 {
		return 0
	}
	return float64(c.Tokens) / float64(c.Chunks)
}

// Differ reports that a chunk is not a token, so counting chunks does not count tokens. It ignores
// as many requests as Bundles does.
func (c ChunkTokens) Differ() bool { return c.Bundles() || c.Largest > 1 }

// Bundles reports that more than one request in a hundred had more tokens than chunks: too many to
// speak of single tokens.
func (c ChunkTokens) Bundles() bool { return c.Bundled*100 > c.Known+c.Bundled+c.Fewer }

// plus is the sum of c and other.
func (c ChunkTokens) plus(other ChunkTokens) ChunkTokens {
	return ChunkTokens{
		Known: c.Known + other.Known, Bundled: c.Bundled + other.Bundled, Fewer: c.Fewer + other.Fewer,
		Chunks: c.Chunks + other.Chunks, Blank: c.Blank + other.Blank,
		Tokens: c.Tokens + other.Tokens, Largest: max(c.Largest, other.Largest),
	}
}

// chunkTokensOf are the ChunkTokens of one request.
func chunkTokensOf(a *record.Attribution) ChunkTokens {
	switch a.Kind {
	case record.FewerTokens:
		return ChunkTokens{Fewer: 1}
	case record.MoreTokens:
		return ChunkTokens{Bundled: 1, Chunks: int64(a.Chunks), Tokens: int64(a.Tokens)}
	}
	return ChunkTokens{
		Known: 1, Chunks: int64(a.Full), Blank: int64(a.Chunks - a.Full), Tokens: int64(a.Tokens), Largest: a.Largest(),
	}
}
