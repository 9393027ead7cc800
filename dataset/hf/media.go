package hf

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/media"
	"github.com/servebench/servebench/metrics/pyjson"
)

// A medium is an image, a video or a sound in each row.
type medium struct {
	columns []string // that have it
	// check makes sure, before the load, that it can be made.
	check func(o *opened, row pyjson.Object) error
	// attach puts it into the request of a row. It runs as the request is pulled.
	attach func(o *opened, turn *dataset.Turn, row pyjson.Object) error
}

// arenaBench keeps its conversations in another column than VisionArena-Chat.
const arenaBench = "lmarena-ai/vision-arena-bench-v0.1"

// Questions about images and videos.
var (
	visionArena = &class{
		repositories: []string{"lmarena-ai/VisionArena-Chat", arenaBench}, split: "train", noSubset: true,
		outputLen: 128, chat: true, positions: true,
		columns: []string{"conversation", "turns"}, turn: arenaTurn, medium: picture("images", "images", 0),
		open: (*opened).files,
	}
	mmvu = &class{
		repositories: []string{"yale-nlp/MMVU"}, split: "validation", noSubset: true, outputLen: 128, chat: true,
		positions: true,
		columns:   []string{"question", "choices"}, turn: plain(choices), medium: clip(), open: (*opened).files,
	}
	llava = &class{
		repositories: []string{"lmms-lab/LLaVA-OneVision-Data"}, chat: true, fitting: conversational.text,
		columns: []string{"conversations"}, turn: conversation, medium: picture("image", "image"), open: (*opened).files,
	}
	mmStar = &class{
		repositories: []string{"Lin-Chen/MMStar"}, split: "val", noSubset: true, outputLen: 128, chat: true, positions: true,
		columns: []string{"question"}, turn: plain(withoutOptions), medium: picture("image", "image"), open: (*opened).files,
	}
)

// arenaTurn is the first message of a conversation about an image.
func arenaTurn(o *opened, row pyjson.Object) (*dataset.Turn, error) {
	name := "conversation"
	if o.repository() == arenaBench {
		name = "turns"
	}
	return plain(column(name, 0, 0, "content"))(o, row)
}

// choices is a question and the answers to choose from.
func choices(row pyjson.Object) (string, error) {
	question, err := text(row, "question")
	if err != nil {
		return "", err
	}
	list, err := within(row, "choices")
	if err != nil {
		return "", err
	}
	object, ok := list.(pyjson.Object)
	if !ok {
		return "", errors.New("choices is no object")
	}
	words := make([]string, len(object)+1)
	words[0] = question
	for i, choice := range object {
		answer, ok := choice.Value.(string)
		if !ok && choice.Value == nil {
			answer = "None" // as Python has it
		}
		words[i+1] = choice.Key + "." + answer
	}
	return strings.Join(words, " "), nil
}

// withoutOptions is a question up to its options.
func withoutOptions(row pyjson.Object) (string, error) {
	question, err := text(row, "question")
	question, _, _ = strings.Cut(question, "Options:")
	return strings.TrimSpace(question), err
}

// picture is an image in a column.
func picture(column string, path ...any) *medium {
	return &medium{
		columns: []string{column},
		check: func(o *opened, row pyjson.Object) error {
			file, _, err := imageFile(o, row, path)
			if err != nil || file == nil {
				return err
			}
			pixels, err := reader.Decode(file)
			if longest := max(pixels.Width, pixels.Height); err == nil && longest > media.MaxDimension {
				err = fmt.Errorf("the image has %d by %d pixels, and a JPEG file may be at most %d wide or high", pixels.Width,
					pixels.Height, media.MaxDimension)
			}
			return err
		},
		attach: func(o *opened, turn *dataset.Turn, row pyjson.Object) error {
			file, url, err := imageFile(o, row, path)
			switch {
			case err != nil:
				return err
			case file == nil:
				o.carry(turn, media.Linked(dataset.Image, media.ImageURL(url)))
				return nil
			}
			pixels, err := reader.Decode(file)
			if err == nil {
				o.carry(turn, media.Picture(pixels))
			}
			return err
		},
	}
}

var reader = media.Reader{OnWhite: true}

// imageFile is the image in a row: its file, or where it is.
func imageFile(o *opened, row pyjson.Object, path []any) (file []byte, url string, err error) {
	value, err := within(row, path...)
	if err != nil {
		return nil, "", err
	}
	switch v := value.(type) {
	case []byte:
		return v, "", nil
	case string:
		return nil, v, nil
	case pyjson.Object:
		if bytes, _ := v.Get("bytes"); bytes != nil {
			if file, ok := bytes.([]byte); ok {
				return file, "", nil
			}
		}
		if name, _ := v.Get("path"); name != nil {
			if name, ok := name.(string); ok {
				file, err := os.ReadFile(o.local(name))
				return file, "", err
			}
		}
	}
	return nil, "", fmt.Errorf("%s is no image: it must be bytes, a path, or an object with bytes or path", spelled(path))
}

// local is the path of a file that a row names: one in the dataset's folder, unless it is absolute.
func (o *opened) local(name string) string {
	if filepath.IsAbs(name) || o.place.Folder == "" {
		return name
	}
	return filepath.Join(o.place.Folder, filepath.FromSlash(name))
}

// carry puts a medium into a request.
func (o *opened) carry(turn *dataset.Turn, m dataset.Medium) {
	turn.Payload = &dataset.Payload{Media: []dataset.Medium{m}}
	if o.of.Chat {
		turn.Messages = media.Message(turn.Prompt, turn.Payload.Media)
		turn.Payload = &dataset.Payload{Within: []dataset.Kind{m.Kind}}
	}
}

// hosted is where the videos of a repository are, as its rows have it.
const hosted = "https://huggingface.co/datasets/%s/resolve/main"

// clip is a video in the column video. The server reads it: from the folder of the dataset, or from
// the network if there is no folder.
func clip() *medium {
	return &medium{
		columns: []string{"video"},
		check: func(_ *opened, row pyjson.Object) error {
			_, err := text(row, "video")
			return err
		},
		attach: func(o *opened, turn *dataset.Turn, row pyjson.Object) error {
			name, err := text(row, "video")
			if err != nil {
				return err
			}
			if o.place.Folder != "" {
				var folder string
				folder, err = filepath.Abs(o.place.Folder) // the server has another working directory
				name = strings.ReplaceAll(name, fmt.Sprintf(hosted, o.repository()), folder)
			}
			o.carry(turn, media.Linked(dataset.Video, media.VideoURL(name)))
			return err
		},
	}
}
