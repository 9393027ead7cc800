package tokenizer

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/measured/tokenizers.md")

// The table of the docs is the code's.
func TestTheDocsHaveWhatIsSupported(t *testing.T) {
	const file = "../../docs/measured/tokenizers.md"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), "|---|---|---|\n")
	if !ok {
		t.Fatalf("%s has no table", file)
	}
	for strings.HasPrefix(rest, "|") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	want := before + "|---|---|---|\n" + supported() + rest
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if string(data) != want {
		t.Errorf("%s differs from the code: go test ./dataset/tokenizer -update", file)
	}
}

// supported are the rows of the table.
func supported() string {
	return rows("model", modelKinds(nil, false)) + rows("normalizer", normalizerKinds()) + rows("pre_tokenizer", preTokenizerKinds()) +
		rows("post_processor", templateKinds()) + rows("decoder", decoderKinds())
}

func rows[T any](part string, kinds []kind[T]) string {
	var names, refused []string
	for _, k := range kinds {
		names = append(names, "`"+k.name+"`")
		if k.but != "" {
			refused = append(refused, "`"+k.name+"`: "+k.but)
		}
	}
	return "| `" + part + "` | " + strings.Join(names, ", ") + " | " + strings.Join(refused, "; ") + " |\n"
}
