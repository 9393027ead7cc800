package media_test

import (
	"os"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset/media"
	"github.com/servebench/servebench/dataset/media/sound"
)

func TestARecordingFileIsSentAsItIs(t *testing.T) {
	for path, kind := range map[string]string{"sound/testdata/wav-pcm_24-2.wav": "audio/x-wav", "sound/testdata/flac-pcm_16-1.flac": "audio/flac", "sound/testdata/mp3-16000-1.mp3": "audio/mpeg"} {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		medium, err := media.RecordingFile(path, file)
		if err != nil {
			t.Fatal(err)
		}
		seconds, err := sound.Seconds(file)
		if err != nil {
			t.Fatal(err)
		}
		u := medium.Upload
		if string(u.Data) != string(file) || "sound/testdata/"+u.Name != path || u.Type != kind || medium.Seconds != seconds || medium.Part != nil {
			t.Errorf("%s: %s, %s, %g seconds", path, u.Name, u.Type, medium.Seconds)
		}
	}
	if _, err := media.RecordingFile("x/a.ogg", []byte("OggS")); err == nil || !strings.HasPrefix(err.Error(), "x/a.ogg: it is neither") {
		t.Errorf("%v", err)
	}
}
