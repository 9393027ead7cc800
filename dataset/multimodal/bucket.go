package multimodal

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/media"
	"github.com/servebench/servebench/metrics/pyjson"
)

// A Bucket is a size of image or video.
type Bucket struct {
	Height, Width int     // pixels
	Frames        int     // 1 is an image, more are a video
	Weight        float64 // how often it is drawn, in proportion to the others
}

// Kind is what the bucket has.
func (b *Bucket) kind() dataset.Kind {
	if b.Frames > 1 {
		return dataset.Video
	}
	return dataset.Image
}

// bytes is the size of its pixels.
func (b *Bucket) bytes() int { return b.Frames * b.Height * b.Width * 3 }

var bucketEntry = regexp.MustCompile(`^\s*(?:"\(([^()"]*)\)"|'\(([^()']*)\)'|\(([^()]*)\))\s*:\s*([^\s,]+)\s*(?:,|$)`)

// ParseBuckets reads what --random-mm-bucket-config takes: a Python dict whose keys are (height,
// width, frames), as tuples or as their text.
func ParseBuckets(text string) ([]Bucket, error) {
	entries, open := strings.CutPrefix(strings.TrimSpace(text), "{")
	entries, closed := strings.CutSuffix(entries, "}")
	if !open || !closed {
		return nil, fmt.Errorf("%q: it must be like {(256, 256, 1): 0.5, (720, 1280, 1): 0.5}", text)
	}
	var buckets []Bucket
	for strings.TrimSpace(entries) != "" {
		m := bucketEntry.FindStringSubmatch(entries)
		if m == nil {
			return nil, fmt.Errorf("%q: it must be (height, width, frames): weight", strings.TrimSpace(entries))
		}
		entries = entries[len(m[0]):]
		key := m[1] + m[2] + m[3]
		b, err := parseBucket(key, m[4])
		if err != nil {
			return nil, fmt.Errorf("(%s): %w", key, err)
		}
		buckets = withBucket(buckets, b)
	}
	return buckets, nil
}

// withBucket is buckets and b, which replaces one of the same size.
func withBucket(buckets []Bucket, b Bucket) []Bucket {
	for i := range buckets {
		if known := &buckets[i]; known.Height == b.Height && known.Width == b.Width && known.Frames == b.Frames {
			known.Weight = b.Weight
			return buckets
		}
	}
	return append(buckets, b)
}

// parseBucket reads the numbers of a key, and a weight.
func parseBucket(key, weight string) (b Bucket, err error) {
	numbers := strings.Split(strings.TrimSuffix(strings.TrimSpace(key), ","), ",")
	if len(numbers) != 3 {
		return b, errors.New("it must have three numbers: height, width and frames")
	}
	for i, to := range []*int{&b.Height, &b.Width, &b.Frames} {
		if *to, err = strconv.Atoi(strings.TrimSpace(numbers[i])); err != nil || *to < 1 || *to > media.MaxDimension {
			return b, fmt.Errorf("height, width and frames must be whole numbers from 1 to %d", media.MaxDimension)
		}
	}
	if b.Weight, err = strconv.ParseFloat(weight, 64); err != nil {
		return b, fmt.Errorf("%q is no weight", weight)
	}
	return b, nil
}

// ParseLimits reads numbers by kinds of media, as {"image": 255, "video": 1}.
func ParseLimits(text string) (map[dataset.Kind]int, error) {
	v, err := pyjson.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("invalid JSON value: %s: %w", pyjson.Quote(text), err)
	}
	object, ok := v.(pyjson.Object)
	if !ok && v != nil {
		return nil, fmt.Errorf("invalid value: %s: it must be a JSON object", pyjson.Quote(text))
	}
	limits := map[dataset.Kind]int{}
	for _, m := range object {
		number := string(pyjson.Append(nil, m.Value))
		n, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("%s: invalid int value: %s", m.Key, pyjson.Quote(number))
		}
		limits[dataset.Kind(m.Key)] = n
	}
	return limits, nil
}
