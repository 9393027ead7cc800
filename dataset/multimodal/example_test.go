package multimodal_test

import (
	"fmt"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/multimodal"
)

func Example() {
	d := multimodal.CustomImage{Options: dataset.Options{Path: goldenFolder + "inputs/images.jsonl", Num: 1, DisableShuffle: true}, OutputLen: 8}
	source, n, err := d.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	for c := range source {
		fmt.Printf("%d: %s, %s\n", n, c.Turns[0].Prompt, c.Turns[0].Payload.Media[0].Part)
	}
	// Output:
	// 1: one luka groshi Kali, {"type": "image_url", "image_url": {"url": "file://a.png"}}
}
