package multimodal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/media"
	"github.com/servebench/servebench/dataset/rows"
	"github.com/servebench/servebench/metrics/pyjson"
)

// CustomImage takes prompts with images from a file of JSON lines, as vLLM's custom_image dataset
// does: {"prompt": "…", "image_files": ["a.png", "https://…"]}, or {"content": […]} with texts and
// images in their order. It sets Python. The seed decides the order, and which rows repeat.
type CustomImage struct {
	dataset.Options      // Path must end in .jsonl
	OutputLen       int  // tokens to ask for; −1 is sent as it is
	Chat            bool // make the user's message here

	// Inline sends the images themselves, in place of their URLs. Open reads each of them once,
	// and keeps those that it has from the network.
	Inline bool
}

// Open reads the file. It returns the source and the number of its conversations.
func (d CustomImage) Open() (dataset.Source, int, error) {
	if !strings.HasSuffix(d.Path, ".jsonl") {
		return nil, 0, fmt.Errorf("%s: the name of a custom_image dataset must end in .jsonl", d.Path)
	}
	list, err := d.read()
	if err != nil {
		return nil, 0, err
	}
	sent := order(&d.Options, len(list))
	var loaded images
	width := 64
	if d.Inline {
		width = runtime.GOMAXPROCS(0) // whose images are in memory as pixels
		if loaded, err = d.check(list, sent); err != nil {
			return nil, 0, err
		}
	}
	return dataset.Parallel(numbered(sent), width, func(n number) (*dataset.Conversation, error) {
		turn, err := d.turn(&list[n.row], loaded)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", d.Path, list[n.row].line, err)
		}
		return d.Conversation(n.conversation, turn), nil
	}), len(sent), nil
}

// An imageRow is a line of the file: a prompt with images, or parts in their order.
type imageRow struct {
	line   int
	prompt string
	images []string
	parts  []contentPart // nil if the row has no content
}

// A contentPart is a text or an image.
type contentPart struct {
	text   string
	image  string        // empty for a text
	others pyjson.Object // what image_url has apart from the URL
}

// read reads all rows.
func (d CustomImage) read() ([]imageRow, error) {
	type fields struct {
		Prompt  json.RawMessage `json:"prompt"`
		Images  json.RawMessage `json:"image_files"`
		Content json.RawMessage `json:"content"`
	}
	return readRows(d.Path, func(line *rows.Line[fields]) (imageRow, error) {
		var err error
		row, v := imageRow{line: line.Number}, line.Value
		switch {
		case v.Content != nil:
			row.parts, err = parts(v.Content)
		case v.Prompt == nil || v.Images == nil:
			err = errors.New(`it must have "prompt" and "image_files", or "content"`)
		case json.Unmarshal(v.Prompt, &row.prompt) != nil || v.Prompt[0] != '"':
			err = errors.New(`"prompt" is no text`)
		case json.Unmarshal(v.Images, &row.images) != nil || len(row.images) == 0:
			err = errors.New(`"image_files" must be a list of at least one URL or path`)
		}
		return row, err
	})
}

// parts reads a content.
func parts(content json.RawMessage) ([]contentPart, error) {
	v, err := pyjson.Parse(string(content))
	list, _ := v.([]any)
	if err != nil || len(list) == 0 {
		return nil, errors.New(`"content" must be a list of at least one part`)
	}
	made := make([]contentPart, len(list))
	for i, v := range list {
		object, _ := v.(pyjson.Object)
		ok := false
		switch kind, _ := object.Get("type"); kind {
		case "text":
			text, _ := object.Get("text")
			made[i].text, ok = text.(string)
		case "image":
			image, _ := object.Get("image")
			made[i].image, ok = image.(string)
			ok = ok && made[i].image != ""
		case "image_url":
			image, _ := object.Get("image_url")
			ok = made[i].setURL(image)
		}
		if !ok {
			return nil, fmt.Errorf(`part %d of "content" must be {"type": "text", "text": TEXT}, {"type": "image", "image": NAME} or {"type": "image_url", "image_url": URL}`, i+1)
		}
	}
	return made, nil
}

// setURL takes the member image_url of a part: a URL, or an object that has one.
func (p *contentPart) setURL(image any) bool {
	if object, ok := image.(pyjson.Object); ok {
		image, _ = object.Get("url")
		for _, m := range object {
			if m.Key != "url" {
				p.others = append(p.others, m)
			}
		}
	}
	url, ok := image.(string)
	p.image = url
	return ok && url != ""
}

// turn is the request that a row makes.
func (d CustomImage) turn(row *imageRow, loaded images) (dataset.Turn, error) {
	turn := dataset.Turn{Prompt: row.prompt, PromptLen: 1, OutputLen: d.OutputLen, Payload: new(dataset.Payload)}
	text := row.prompt
	var err error
	if row.parts != nil {
		text, err = d.interleave(&turn, row.parts, loaded)
	} else {
		err = d.attach(&turn, row, loaded)
	}
	if d.Tokenizer != nil {
		turn.PromptLen = d.Tokenizer.Count(text, true)
	}
	return turn, err
}

// attach adds the images of a row to its prompt.
func (d CustomImage) attach(turn *dataset.Turn, row *imageRow, loaded images) error {
	for _, name := range row.images {
		url, err := d.url(name, loaded)
		if err != nil {
			return err
		}
		turn.Payload.Media = append(turn.Payload.Media, media.Linked(dataset.Image, url))
	}
	if d.Chat {
		turn.Messages = media.Message(row.prompt, turn.Payload.Media)
	}
	return nil
}

// interleave makes the content of the parts. It returns their text.
func (d CustomImage) interleave(turn *dataset.Turn, parts []contentPart, loaded images) (text string, err error) {
	content := make([]any, len(parts))
	for i, p := range parts {
		if p.image == "" {
			text += p.text
			content[i] = pyjson.Object{{Key: "type", Value: "text"}, {Key: "text", Value: p.text}}
			continue
		}
		url, err := d.url(p.image, loaded)
		if err != nil {
			return "", err
		}
		image := append(pyjson.Object{{Key: "url", Value: url}}, p.others...)
		content[i] = pyjson.Object{{Key: "type", Value: "image_url"}, {Key: "image_url", Value: image}}
		turn.Payload.Within = append(turn.Payload.Within, dataset.Image)
	}
	if turn.Payload.Content = pyjson.Append(nil, content); d.Chat {
		const before, after = `[{"role": "user", "content": `, `}]`
		turn.Messages = bytes.Join([][]byte{[]byte(before), turn.Payload.Content, []byte(after)}, nil)
	}
	return text, nil
}

// url is where an image is, or the image itself.
func (d CustomImage) url(name string, loaded images) (string, error) {
	if !d.Inline || strings.HasPrefix(name, "data:image/") {
		return media.ImageURL(name), nil
	}
	p, err := loaded.pixels(name)
	if err != nil {
		return "", err
	}
	return media.DataURL("image/png", p.PNG()), nil
}
