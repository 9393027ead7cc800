package audio_test

import (
	"fmt"
	"strings"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/audio"
	"github.com/servebench/servebench/loadgen/api/request"
)

func Example() {
	encode := audio.Encoder(&request.Body{Model: "whisper"})
	speech := dataset.Medium{Kind: dataset.Sound, Upload: &dataset.Upload{Name: "a.wav", Type: "audio/wav", Data: []byte("RIFF…")}}
	form, err := encode(&dataset.Turn{OutputLen: 8, Payload: &dataset.Payload{Media: []dataset.Medium{speech}}}, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.SplitSeq(string(form), "\r\n") {
		if strings.HasPrefix(line, "Content-Disposition") {
			fmt.Println(line)
		}
	}
	// Output:
	// Content-Disposition: form-data; name="file"; filename="a.wav"
	// Content-Disposition: form-data; name="model"
	// Content-Disposition: form-data; name="max_completion_tokens"
	// Content-Disposition: form-data; name="stream"
	// Content-Disposition: form-data; name="language"
	// Content-Disposition: form-data; name="stream_include_usage"
	// Content-Disposition: form-data; name="stream_continuous_usage_stats"
}
