package media_test

import (
	"os"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset/media"
	"github.com/servebench/servebench/dataset/media/sound"
)

func TestARecordingFileIsSentAsItIs(t *testing.T) {
	for path, kind := range map[string]string{"sound/testdata/wav-pcm_24-2.wav": "audio/x-wav", "sound/testdata/flac-pcm_16-1.flac": "audio/flac"} {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		medium, err := media.RecordingFile(path, file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := sound.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		u := medium.Upload
		if string(u.Data) != string(file) || "sound/testdata/"+u.Name != path || u.Type != kind || medium.Seconds != s.Seconds() || medium.Part != nil {
			t.Errorf("%s: %s, %s, %g seconds", path, u.Name, u.Type, medium.Seconds)
		}
	}
	if _, err := media.RecordingFile("x/a.mp3", []byte("ID3")); err == nil || !strings.HasPrefix(err.Error(), "x/a.mp3: it is neither") {
		t.Errorf("%v", err)
	}
}
