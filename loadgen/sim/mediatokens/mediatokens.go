// Package mediatokens turns images and sounds in a prompt into tokens, as a model's encoder would: their
// number follows from their size, and equal media have equal tokens.
package mediatokens

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"image"
	_ "image/jpeg" // the formats of images in chats
	_ "image/png"
	"strings"

	"github.com/servebench/servebench/dataset/media/sound"
)

const (
	// perSecond is the number of tokens of a second of sound: one for 40 ms, as Qwen2-Audio has them.
	perSecond = 25
	// patch is the length of a side of the square of pixels that is one token, as in Qwen2-VL.
	patch = 28
	// unseen is the number of tokens of an image or a video that is elsewhere.
	unseen = 256
)

// Part returns the tokens of a content part of a chat: an image, a video or a sound. They are outside
// of every vocabulary. It is not ok if the part is none of these.
func Part(part json.RawMessage) (tokens []int, ok bool, err error) {
	var p struct {
		Type  string
		Image struct{ URL string }  `json:"image_url"`
		Video struct{ URL string }  `json:"video_url"`
		Audio struct{ Data string } `json:"input_audio"`
	}
	if json.Unmarshal(part, &p) != nil {
		return nil, false, nil
	}
	switch p.Type {
	case "image_url":
		n, err := pictured(p.Image.URL)
		return made(p.Image.URL, n), true, err
	case "video_url":
		return made(p.Video.URL, unseen), true, nil
	case "input_audio":
		file, err := base64.StdEncoding.DecodeString(p.Audio.Data)
		if err != nil {
			return nil, true, fmt.Errorf("`input_audio` must have base64 data: %v", err)
		}
		tokens, err := heard(file)
		return tokens, true, err
	}
	return nil, false, nil
}

// heard is the tokens of a WAV or FLAC file.
func heard(file []byte) ([]int, error) {
	seconds, err := sound.Seconds(file)
	if err != nil {
		return nil, fmt.Errorf("invalid or unsupported audio file: %v", err)
	}
	return made(string(file), 1+int(seconds*perSecond)), nil
}

// pictured is the number of tokens of an image.
func pictured(url string) (int, error) {
	encoded, here := strings.CutPrefix(url, "data:")
	if !here {
		return unseen, nil
	}
	_, encoded, _ = strings.Cut(encoded, ";base64,")
	file, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return 0, fmt.Errorf("`image_url` must have base64 data: %v", err)
	}
	size, _, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return 0, fmt.Errorf("cannot identify image file: %v", err)
	}
	return max(1, (size.Width+patch/2)/patch) * max(1, (size.Height+patch/2)/patch), nil
}

// firstToken is below all marks of chat templates.
const firstToken = -1 << 16

// made is n tokens that stand for something.
func made(what string, n int) []int {
	sum := fnv.New64a()
	sum.Write([]byte(what))
	id := firstToken - int(sum.Sum64()>>16)
	tokens := make([]int, n)
	for i := range tokens {
		tokens[i] = id - i
	}
	return tokens
}
