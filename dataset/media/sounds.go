package media

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/media/sound"
)

// Recording is a sound as vLLM's client uploads samples: a WAV file.
func Recording(s *sound.Sound) dataset.Medium {
	return dataset.Medium{
		Kind: dataset.Sound, Seconds: s.Seconds(),
		Upload: &dataset.Upload{Name: "audio.wav", Type: "audio/wav", Data: s.WAV()},
	}
}

// RecordingFile is a sound as vLLM's client uploads a file: its own bytes under its own name.
func RecordingFile(path string, file []byte) (dataset.Medium, error) {
	seconds, err := sound.Seconds(file)
	if err != nil {
		return dataset.Medium{}, fmt.Errorf("%s: %w", path, err)
	}
	name := filepath.Base(path)
	return dataset.Medium{
		Kind: dataset.Sound, Seconds: seconds,
		Upload: &dataset.Upload{Name: name, Type: soundType(name), Data: file},
	}, nil
}

// soundType is the media type of a sound by its name, as in the tables of Python's module mimetypes
// on Debian.
func soundType(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".flac":
		return "audio/flac"
	case ".mp3":
		return "audio/mpeg"
	}
	return "audio/x-wav"
}

// Speech is a sound as vLLM's client puts it into a chat: a WAV file as a content part.
func Speech(s *sound.Sound) dataset.Medium {
	file := s.WAV()
	const before, after = `{"type": "input_audio", "input_audio": {"data": "`, `", "format": "wav"}}`
	part := make([]byte, 0, len(before)+base64.StdEncoding.EncodedLen(len(file))+len(after))
	part = base64.StdEncoding.AppendEncode(append(part, before...), file)
	return dataset.Medium{Kind: dataset.Sound, Part: append(part, after...), Seconds: s.Seconds()}
}
