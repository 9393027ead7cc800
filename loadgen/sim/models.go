package sim

import (
	"encoding/json"
	"io"
	"net/http"
)

// models answers GET /v1/models.
func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	type model struct {
		ID          string  `json:"id"`
		Object      string  `json:"object"`
		Created     int64   `json:"created"`
		OwnedBy     string  `json:"owned_by"`
		Root        string  `json:"root"`
		Parent      *string `json:"parent"`
		MaxModelLen *int    `json:"max_model_len"`
	}
	base := model{
		ID: s.cfg.ServedModelName, Object: "model", Created: s.created, OwnedBy: "vllm",
		Root: s.cfg.Model, MaxModelLen: new(s.cfg.Limits.ModelLen),
	}
	list := []model{base}
	for _, name := range s.cfg.Adapters {
		adapter := base
		adapter.ID, adapter.Root, adapter.Parent, adapter.MaxModelLen = name, name, &base.ID, nil
		list = append(list, adapter)
	}
	writeJSON(w, http.StatusOK, mustJSON(struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{"list", list}))
}

// health answers GET /health.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	select {
	case <-s.engine.Closed():
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
	}
}

// version answers GET /version.
func (s *Server) version(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, []byte(`{"version":"servebench-sim"}`))
}

// tokenize answers POST /tokenize.
func (s *Server) tokenize(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model            string  `json:"model"`
		Prompt           *string `json:"prompt"`
		AddSpecialTokens *bool   `json:"add_special_tokens"`
	}
	if p := s.reader.readJSON(r, &asked, &asked.Model); p != nil {
		p.write(w)
		return
	}
	if asked.Prompt == nil {
		badRequest("prompt", "`prompt` must be a text").write(w)
		return
	}
	ids := s.cfg.Tokenizer.Encode(*asked.Prompt, asked.AddSpecialTokens == nil || *asked.AddSpecialTokens)
	writeJSON(w, http.StatusOK, mustJSON(struct {
		Count       int      `json:"count"`
		MaxModelLen int      `json:"max_model_len"`
		Tokens      []int    `json:"tokens"`
		TokenStrs   []string `json:"token_strs"`
	}{Count: len(ids), MaxModelLen: s.cfg.Limits.ModelLen, Tokens: append([]int{}, ids...)}))
}

// detokenize answers POST /detokenize.
func (s *Server) detokenize(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model  string `json:"model"`
		Tokens []int  `json:"tokens"`
	}
	if p := s.reader.readJSON(r, &asked, &asked.Model); p != nil {
		p.write(w)
		return
	}
	if p := s.reader.checkIDs("tokens", asked.Tokens); p != nil {
		p.write(w)
		return
	}
	writeJSON(w, http.StatusOK, mustJSON(struct {
		Prompt string `json:"prompt"`
	}{s.cfg.Tokenizer.Decode(asked.Tokens)}))
}

// readJSON decodes a body into v and then checks its model.
func (rd *reader) readJSON(r *http.Request, v any, model *string) *problem {
	if err := json.NewDecoder(r.Body).Decode(v); err != nil {
		return badRequest("", "the body does not fit: %v", err)
	}
	return rd.checkModel(*model)
}

// resetPrefixCache answers POST /reset_prefix_cache.
func (s *Server) resetPrefixCache(http.ResponseWriter, *http.Request) { s.engine.Forget() }

// metrics answers GET /metrics.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	io.WriteString(w, s.engine.Metrics()+s.cfg.Device.Board.Exposition())
}
