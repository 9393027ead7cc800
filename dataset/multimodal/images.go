package multimodal

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/servebench/servebench/dataset/media"
)

// images are the image files that the client has from the network, by their URLs.
type images map[string][]byte

const (
	fetchTime  = 30 * time.Second
	fetchBytes = 256 << 20
	fetchers   = 16
)

// check fetches and decodes each image of the rows that are sent, so that one that cannot be read is
// known before the load.
func (d CustomImage) check(list []imageRow, sent []int) (images, error) {
	type needed struct {
		name string
		line int // that has it first
		file []byte
		err  error
	}
	var all []*needed
	known := map[string]bool{}
	for _, row := range sent {
		for _, name := range list[row].names() {
			if !known[name] && !strings.HasPrefix(name, "data:image/") {
				all = append(all, &needed{name: name, line: list[row].line})
			}
			known[name] = true
		}
	}
	each := func(atOnce int, work func(n *needed)) {
		var group errgroup.Group
		group.SetLimit(atOnce)
		for _, n := range all {
			group.Go(func() error { work(n); return nil })
		}
		_ = group.Wait()
	}
	each(fetchers, func(n *needed) {
		if remote(n.name) {
			n.file, n.err = fetch(n.name)
		}
	})
	kept := images{}
	for _, n := range all {
		if n.file != nil {
			kept[n.name] = n.file
		}
	}
	each(runtime.GOMAXPROCS(0), func(n *needed) {
		if n.err == nil {
			_, n.err = kept.pixels(n.name)
		}
	})
	for _, n := range all {
		if n.err != nil {
			return nil, fmt.Errorf("%s:%d: %w", d.Path, n.line, n.err)
		}
	}
	return kept, nil
}

// names are the images of a row.
func (r *imageRow) names() []string {
	all := r.images
	for _, p := range r.parts {
		if p.image != "" {
			all = append(all, p.image)
		}
	}
	return all
}

// pixels are an image.
func (i images) pixels(name string) (p media.Pixels, err error) {
	file, kept := i[name]
	if !kept {
		if file, err = os.ReadFile(localPath(name)); err != nil {
			return p, err
		}
	}
	if p, err = (media.Reader{OnWhite: true}).Decode(file); err != nil {
		return p, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// remote reports whether an image comes from the network.
func remote(name string) bool {
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
}

// localPath is the path of a file that is named by its path or by a URL.
func localPath(name string) string {
	path, isURL := strings.CutPrefix(name, "file://")
	if plain, err := url.PathUnescape(path); isURL && err == nil {
		return plain
	}
	return path
}

// fetch gets an image from the network.
func fetch(url string) ([]byte, error) {
	client := http.Client{Timeout: fetchTime}
	reply, err := client.Get(url)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: the server answers %s", url, reply.Status)
	}
	file, err := io.ReadAll(io.LimitReader(reply.Body, fetchBytes+1))
	if err == nil && len(file) > fetchBytes {
		err = errors.New("the file is larger than 256 MiB")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	return file, nil
}
