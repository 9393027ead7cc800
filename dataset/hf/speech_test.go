package hf

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/media/sound"
)

// A form is a request for a transcription, less what is the same in all.
type form struct {
	ID, Type, File, SHA256, Tokens string
}

// formsOf are the requests of a golden run that are forms.
func formsOf(t *testing.T, raw json.RawMessage) (forms []form) {
	t.Helper()
	var requests []struct {
		Path      string
		Headers   [][2]string
		Multipart []struct {
			Name, Value, SHA256 string
			Headers             []string
		}
	}
	if err := json.Unmarshal(raw, &requests); err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		if r.Multipart == nil {
			continue
		}
		f := form{SHA256: r.Multipart[0].SHA256, Tokens: r.Multipart[2].Value}
		f.Type = strings.TrimPrefix(r.Multipart[0].Headers[0], "Content-Type: ")
		_, f.File, _ = strings.Cut(r.Multipart[0].Headers[1], `filename="`)
		f.File = strings.TrimSuffix(f.File, `"`)
		for _, h := range r.Headers {
			if h[0] == "X-Request-ID" {
				f.ID = h[1]
			}
		}
		forms = append(forms, f)
	}
	return forms
}

// speechCache makes a cache of Hugging Face with the two repositories of the golden runs: rows with files, and
// rows with names of files.
func speechCache(t *testing.T) {
	t.Helper()
	cache := t.TempDir()
	t.Setenv("HF_HUB_CACHE", cache)
	t.Setenv("HF_DATASETS_CACHE", cache)
	snapshot := func(repo string) string {
		folder := filepath.Join(cache, "datasets--"+strings.ReplaceAll(repo, "/", "--"), "snapshots", strings.Repeat("0", 40))
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		return folder
	}
	type sounds struct {
		Bytes []byte `parquet:"bytes,optional"`
		Path  string `parquet:"path,optional"`
	}
	type row struct {
		Audio sounds `parquet:"audio"`
	}
	var rows []row
	var lines strings.Builder
	files := snapshot(earnings)
	for i := range 7 {
		name := "u" + strconv.Itoa(i) + ".wav"
		data, err := os.ReadFile(goldenFolder + "inputs/asr/" + name)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row{sounds{data, name}})
		write(t, filepath.Join(files, name), data)
		fmt.Fprintf(&lines, `{"url": "%s", "transcript": "x"}`+"\n", name)
	}
	write(t, filepath.Join(files, "train.jsonl"), []byte(lines.String()))
	if err := parquet.WriteFile(filepath.Join(snapshot("openslr/librispeech_asr"), "train.parquet"), rows); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestSpeechIsChosenAsByVLLM(t *testing.T) {
	speechCache(t)
	var file struct {
		Cases []struct {
			Name, Tokenizer, Exception string
			Argv                       []string
			Requests                   json.RawMessage
		}
	}
	readCases(t, goldenFolder+"asr.json", &file)
	if len(file.Cases) != 11 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			d := parse(t, c.Argv, c.Tokenizer)
			source, n, err := d.Open()
			if (err != nil) != (c.Exception != "") {
				t.Fatalf("%v, want %q", err, c.Exception)
			}
			if err != nil {
				return
			}
			var got []form
			for conversation, err := range source {
				if err != nil {
					t.Fatal(err)
				}
				turn := &conversation.Turns[0]
				upload := turn.Payload.Media[0].Upload
				sum := sha256.Sum256(upload.Data)
				got = append(got, form{conversation.ID, upload.Type, upload.Name, hex.EncodeToString(sum[:]), strconv.Itoa(turn.OutputLen)})
			}
			if diff := cmp.Diff(formsOf(t, c.Requests), got); diff != "" || n != len(got) {
				t.Errorf("%d of %d forms: -want +got:\n%s", len(got), n, diff)
			}
		})
	}
}

// The prompts are vLLM's, and their tokens count.
func TestSpeechHasThePromptOfItsModel(t *testing.T) {
	speechCache(t)
	for name, want := range map[string]string{"openai/whisper-tiny": whisperPrompt, "x/Cohere-ASR": coherePrompt, "x/voxtral": ""} {
		d := parse(t, []string{"--dataset-path", earnings, "--num-prompts", "1"}, "tok-bos")
		d.Speech.Tokenizer = name
		source, _, err := d.Open()
		if err != nil {
			t.Fatal(err)
		}
		for c := range source {
			turn := &c.Turns[0]
			if m := &turn.Payload.Media[0]; turn.Prompt != want || turn.PromptLen != d.Tokenizer.Count(want, true) || m.Kind != dataset.Sound || m.Seconds <= 0 {
				t.Errorf("%s: %+v", name, turn)
			}
		}
	}
}

func TestSpeechThatCannotBeReadIsNamed(t *testing.T) {
	speechCache(t)
	folder := t.TempDir()
	write(t, filepath.Join(folder, "a.mid"), []byte("MThd"))
	for line, want := range map[string]string{
		`{"audio": "a.mid"}`:         "train.jsonl: row 1: " + filepath.Join(folder, "a.mid") + ": it is neither WAV",
		`{"audio": {"path": "no"}}`:  "no such file",
		`{"audio": {"bytes": null}}`: "audio is no sound",
		`{"audio": 1}`:               "audio is no sound",
		`{"sound": "a.mid"}`:         "it has no audio",
	} {
		write(t, filepath.Join(folder, "train.jsonl"), []byte(line))
		d := parse(t, []string{"--dataset-path", folder, "--hf-name", "openslr/librispeech_asr"}, "tok-plain")
		if _, _, err := d.Open(); err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(want, "train.jsonl: ")) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

// As in vLLM's client, a sound as long as a bound fits.
func TestBoundsOfSecondsFit(t *testing.T) {
	file := (&sound.Sound{Rate: 8000, Channels: 1, Samples: make([]float64, 12000)}).WAV()
	path := filepath.Join(t.TempDir(), "a.wav")
	write(t, path, file)
	for _, c := range []struct {
		least, most float64
		fits        bool
	}{{1.5, 1.5, true}, {0, 0, true}, {1.501, 0, false}, {0, 1.499, false}} {
		d := rowsOf(t, "openslr/librispeech_asr", fmt.Sprintf(`{"audio": %q}`, path))
		d.Speech.Min, d.Speech.Max = c.least, c.most
		if _, n, err := d.Open(); (n == 1 && err == nil) != c.fits {
			t.Errorf("%+v: %d, %v", c, n, err)
		}
	}
}
