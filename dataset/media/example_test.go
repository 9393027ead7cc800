package media_test

import (
	"fmt"

	"github.com/servebench/servebench/dataset/media"
)

func Example() {
	red := media.Pixels{Width: 2, Height: 1, RGB: []byte{255, 0, 0, 255, 0, 0}}
	fmt.Println(media.ImageURL("cat.png"), len(red.JPEG()))
	fmt.Printf("%.60s\n", media.Picture(red).Part)
	// Output:
	// file://cat.png 599
	// {"type": "image_url", "image_url": {"url": "data:image/jpeg;
}
