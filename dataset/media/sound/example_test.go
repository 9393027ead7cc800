package sound_test

import (
	"fmt"

	"github.com/servebench/servebench/dataset/media/sound"
)

func Example() {
	quarter := &sound.Sound{Rate: 8000, Channels: 1, Samples: make([]float64, 2000)}
	file := quarter.WAV()
	again, err := sound.Read(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(file), "bytes,", again.Seconds(), "seconds")
	// Output: 4044 bytes, 0.25 seconds
}
