package mediatest_test

import (
	"fmt"

	"github.com/servebench/servebench/dataset/media"
	"github.com/servebench/servebench/dataset/media/mediatest"
)

func Example() {
	grey := media.Pixels{Width: 1, Height: 1, RGB: []byte{90, 90, 90}}
	white := media.Pixels{Width: 1, Height: 1, RGB: []byte{255, 255, 255}}
	text, pictures := mediatest.Cut("See " + media.DataURL("image/jpeg", grey.JPEG()) + " and " + media.DataURL("image/jpeg", white.JPEG()))
	fmt.Println(text, pictures[0].Equal(pictures[1]), pictures[1].Format)
	// Output: See picture 1 and picture 2 false jpeg
}
