package media

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics/pyjson"
)

// Picture is an image as vLLM's client sends it: a JPEG file in a data URL.
func Picture(p Pixels) dataset.Medium {
	file := p.JPEG()
	const before, after = `{"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,`, `"}}`
	part := make([]byte, 0, len(before)+base64.StdEncoding.EncodedLen(len(file))+len(after))
	part = base64.StdEncoding.AppendEncode(append(part, before...), file)
	return dataset.Medium{Kind: dataset.Image, Part: append(part, after...)}
}

// Linked is an image or a video at a URL.
func Linked(kind dataset.Kind, url string) dataset.Medium {
	member := string(kind) + "_url"
	return dataset.Medium{Kind: kind, Part: pyjson.Append(nil, pyjson.Object{
		{Key: "type", Value: member}, {Key: member, Value: pyjson.Object{{Key: "url", Value: url}}},
	})}
}

// ImageURL is the URL of an image that a dataset names by a URL or by a path, as vLLM's client makes
// it: a path becomes file:// and the path as it is.
func ImageURL(name string) string {
	return located(name, "http://", "https://", "file://", "data:image/")
}

// VideoURL is the URL of a video that a dataset names by a URL or by a path.
func VideoURL(name string) string { return located(name, "http://", "https://", "file://") }

func located(name string, schemes ...string) string {
	for _, scheme := range schemes {
		if strings.HasPrefix(name, scheme) {
			return name
		}
	}
	return "file://" + name
}

// Message is a list of one user's message, as vLLM's client makes it with --enable-multimodal-chat:
// the text, and then the media.
func Message(text string, media []dataset.Medium) json.RawMessage {
	size := 64 + len(text) + len(text)/8
	for i := range media {
		size += 2 + len(media[i].Part)
	}
	list := append(make([]byte, 0, size), `[{"role": "user", "content": [{"text": `...)
	list = append(pyjson.Append(list, text), `, "type": "text"}`...)
	for i := range media {
		list = append(append(list, ", "...), media[i].Part...)
	}
	return append(list, "]}]"...)
}
