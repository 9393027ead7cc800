// Package transcripts speaks OpenAI's API for transcriptions and translations in front of a server of
// chat completions.
//
// A Handler turns a form with a sound into a chat with that sound, and passes each chunk of the chat's
// stream on at once as a chunk of a transcription: so the times are the chat's. If the form asks for no
// stream, the answer is one object.
package transcripts

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
)

// maxForm is the longest form, in bytes. OpenAI takes files up to 25 MB, and so does vLLM.
const maxForm = 26 << 20

// A Handler answers POST /v1/audio/transcriptions and translations by a chat. It is safe for concurrent
// use.
type Handler struct {
	// Chat answers POST /v1/chat/completions as vLLM does.
	Chat http.Handler
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	form, err := r.MultipartReader()
	if err != nil {
		refuse(w, fmt.Sprintf("the body is not a form: %v", err))
		return
	}
	chat, err := chatOf(form)
	if err != nil {
		refuse(w, err.Error())
		return
	}
	body, err := json.Marshal(chat)
	if err != nil {
		panic(err) // texts and numbers always can
	}
	asked := r.Clone(r.Context())
	asked.URL.Path = "/v1/chat/completions"
	asked.Body, asked.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	if chat["stream"] != true {
		one := &whole{ResponseWriter: w}
		h.Chat.ServeHTTP(one, asked)
		one.end()
		return
	}
	h.Chat.ServeHTTP(&stream{ResponseWriter: w}, asked)
}

// chatOf is a form as a chat. Fields that change only the text have no effect.
func chatOf(form *multipart.Reader) (chat map[string]any, err error) {
	chat = map[string]any{}
	options := map[string]bool{}
	left := int64(maxForm)
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("the form is cut short: %v", err)
		}
		value, err := io.ReadAll(io.LimitReader(part, left+1))
		if err != nil {
			return nil, fmt.Errorf("the form is cut short: %v", err)
		}
		if left -= int64(len(value)); left < 0 {
			return nil, fmt.Errorf("the form is longer than %d MiB", maxForm>>20)
		}
		if err := set(chat, options, part.FormName(), value); err != nil {
			return nil, err
		}
	}
	if chat["messages"] == nil {
		return nil, fmt.Errorf("`file` is missing")
	}
	if chat["stream"] == true {
		chat["stream_options"] = options
	} else if len(options) > 0 {
		return nil, fmt.Errorf("stream options need `stream`")
	}
	return chat, nil
}

// set sets what a field of the form means for the chat.
func set(chat map[string]any, options map[string]bool, name string, value []byte) (err error) {
	switch name {
	case "file":
		chat["messages"] = []any{map[string]any{"role": "user", "content": []any{map[string]any{
			"type": "input_audio", "input_audio": map[string]any{"data": base64.StdEncoding.EncodeToString(value)},
		}}}}
	case "model":
		chat[name] = string(value)
	case "max_completion_tokens", "min_tokens":
		chat[name], err = strconv.Atoi(string(value))
	case "stream", "ignore_eos":
		chat[name], err = strconv.ParseBool(string(value))
	case "stream_include_usage":
		options["include_usage"], err = strconv.ParseBool(string(value))
	case "stream_continuous_usage_stats":
		options["continuous_usage_stats"], err = strconv.ParseBool(string(value))
	}
	if err != nil {
		return fmt.Errorf("`%s`: %q does not fit", name, value)
	}
	return nil
}

// refuse answers with an error, as the server of chats does.
func refuse(w http.ResponseWriter, message string) {
	body, _ := json.Marshal(map[string]any{"error": map[string]any{ // texts always can
		"message": message, "type": "BadRequestError", "param": nil, "code": http.StatusBadRequest,
	}})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	w.Write(body)
}

// A stream passes on the stream of a chat as one of a transcription.
type stream struct {
	http.ResponseWriter
	line    []byte // that has not ended
	dropped bool   // the last line was left out, and its end is still to come
}

// Unwrap is the writer below, for http.ResponseController.
func (s *stream) Unwrap() http.ResponseWriter { return s.ResponseWriter }

var (
	chatKind = []byte(`"object":"chat.completion.chunk"`)
	ownKind  = []byte(`"object":"transcription.chunk"`)
	role     = []byte(`"delta":{"role":`)
)

// Write passes on the whole lines so far. A transcription has no chunk with a role.
func (s *stream) Write(b []byte) (int, error) {
	s.line = append(s.line, b...)
	var out []byte
	for {
		end := bytes.IndexByte(s.line, '\n')
		if end < 0 {
			break
		}
		line := s.line[:end+1]
		s.line = s.line[end+1:]
		if s.dropped && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if s.dropped = bytes.Contains(line, role); !s.dropped {
			out = append(out, bytes.Replace(line, chatKind, ownKind, 1)...)
		}
	}
	if len(out) == 0 {
		return len(b), nil
	}
	if _, err := s.ResponseWriter.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// A whole is the answer of a chat that is not streamed, which becomes one of a transcription.
type whole struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// WriteHeader keeps the status.
func (o *whole) WriteHeader(status int) { o.status = status }

// Write keeps the body.
func (o *whole) Write(b []byte) (int, error) { return o.body.Write(b) }

// end writes the answer.
func (o *whole) end() {
	var chat struct {
		Choices []struct {
			Message struct {
				Content string `json:"content"`
			} `json:"message"`
		} `json:"choices"`
	}
	body := o.body.Bytes()
	if json.Unmarshal(body, &chat) == nil && len(chat.Choices) > 0 {
		body, _ = json.Marshal(map[string]string{"text": chat.Choices[0].Message.Content}) // a text always can
	}
	o.Header().Del("Content-Length")
	o.ResponseWriter.WriteHeader(max(o.status, http.StatusOK))
	o.ResponseWriter.Write(body)
}
