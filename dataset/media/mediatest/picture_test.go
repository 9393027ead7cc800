package mediatest_test

import (
	"bytes"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"testing"

	"github.com/servebench/servebench/dataset/media"
	"github.com/servebench/servebench/dataset/media/mediatest"
)

// noise is an image of random pixels.
func noise(seed uint64, width, height int) media.Pixels {
	rng := rand.New(rand.NewPCG(seed, 0))
	p := media.Pixels{Width: width, Height: height, RGB: make([]byte, 3*width*height)}
	for i := range p.RGB {
		p.RGB[i] = byte(rng.Uint32())
	}
	return p
}

func picture(t *testing.T, kind string, file []byte) mediatest.Picture {
	t.Helper()
	_, pictures := mediatest.Cut(media.DataURL("image/"+kind, file))
	if len(pictures) != 1 {
		t.Fatalf("%d pictures", len(pictures))
	}
	return pictures[0]
}

// Images of other pixels, of another size, or coded in another way are not equal.
func TestOtherImagesAreNotEqual(t *testing.T) {
	p := noise(1, 24, 16)
	one := picture(t, "jpeg", p.JPEG())
	if !one.Equal(picture(t, "jpeg", p.JPEG())) {
		t.Error("an image is not equal to itself")
	}
	for seed := range uint64(200) {
		if one.Equal(picture(t, "jpeg", noise(2+seed, 24, 16).JPEG())) {
			t.Errorf("the pixels of seed %d are equal", 2+seed)
		}
	}
	if one.Equal(picture(t, "jpeg", noise(1, 16, 24).JPEG())) || one.Equal(picture(t, "png", p.PNG())) {
		t.Error("another size or format is equal")
	}
	decoded, err := jpeg.Decode(bytes.NewReader(p.JPEG()))
	if err != nil {
		t.Fatal(err)
	}
	var coarser bytes.Buffer
	if err := jpeg.Encode(&coarser, decoded.(*image.YCbCr), &jpeg.Options{Quality: 74}); err != nil {
		t.Fatal(err)
	}
	if one.Equal(picture(t, "jpeg", coarser.Bytes())) {
		t.Error("another quality is equal")
	}
}

// PNG files have to have the same pixels.
func TestPNGFilesAreExact(t *testing.T) {
	p := noise(1, 5, 4)
	one := picture(t, "png", p.PNG())
	if !one.Equal(picture(t, "png", p.PNG())) {
		t.Error("an image is not equal to itself")
	}
	p.RGB[7] ^= 1
	if one.Equal(picture(t, "png", p.PNG())) {
		t.Error("another pixel is equal")
	}
}

func TestWhatIsNoImageStays(t *testing.T) {
	const text = "a data:image/png;base64,AAAA data:image/jpeg;base64,/9j/ data:image/png;base64,A b"
	if rest, pictures := mediatest.Cut(text); rest != text || pictures != nil {
		t.Errorf("%s, %d pictures", rest, len(pictures))
	}
}
