// Package elastic is a model of kvcached's elastic memory: simulated servers on one GPU take pages for
// their KV cache from one Memory and return them.
//
// It is a model, and was not measured on a GPU. A pool has just as many pages as its blocks need,
// so there is no fragmentation. It also keeps spare pages, which it uses first. If there are fewer
// spare pages than Least, it maps more in the background until there are Most or the GPU has no more.
// If there are more than Most, it unmaps them in the background. Both go page by page, and each page
// takes Map or Unmap. Blocks that find no spare page wait for pages to be mapped: the engine's step
// takes Map longer for each. A pool never takes a page from another.
package elastic

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Model says what a GPU has and how long its pages take. Its zero value has no pages.
type Model struct {
	Pages  int // of all pools together
	Blocks int // of KV cache in a page
	MiB    int // size of a page

	Least, Most int // spare pages of a pool

	Map, Unmap time.Duration // of one page
}

// usual is the model of an 8B model's cache with kvcached's defaults for spare pages: 32 layers of 2
// buffers in pages of 2 MiB, of which a block of 16 tokens takes 2 MiB in all.
func usual() Model { return Model{Blocks: 64, MiB: 128, Least: 5, Most: 10, Map: time.Millisecond} }

// Help says what Parse reads.
const Help = "pages=N of the GPU, blocks=N and mib=N of a page, reserve=LEAST-MOST spare pages of a server, " +
	"map=TIME and unmap=TIME of a page"

// Parse reads values with commas between, as in "pages=48,blocks=24,mib=48,reserve=2-4,map=2ms,unmap=1ms".
// What is not listed has its usual value; there must be pages.
func Parse(text string) (Model, error) {
	m := usual()
	for item := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(item), "=")
		if err := m.set(key, value); err != nil {
			return Model{}, fmt.Errorf("invalid item: %q: it may have %s", strings.TrimSpace(item), Help)
		}
	}
	if m.Pages < 1 || m.Blocks < 1 || m.MiB < 1 || m.Least < 0 || m.Most < m.Least || m.Map < 0 || m.Unmap < 0 {
		return Model{}, fmt.Errorf("%q: pages, blocks and mib must be 1 or more, times not negative, and LEAST not above "+
			"MOST", text)
	}
	return m, nil
}

func (m *Model) set(key, value string) (err error) {
	switch key {
	case "pages":
		m.Pages, err = strconv.Atoi(value)
	case "blocks":
		m.Blocks, err = strconv.Atoi(value)
	case "mib":
		m.MiB, err = strconv.Atoi(value)
	case "reserve":
		least, most, _ := strings.Cut(value, "-")
		if m.Least, err = strconv.Atoi(least); err == nil {
			m.Most, err = strconv.Atoi(most)
		}
	case "map":
		m.Map, err = time.ParseDuration(value)
	case "unmap":
		m.Unmap, err = time.ParseDuration(value)
	default:
		err = errors.New("unknown")
	}
	return err
}

// A Memory is the pages of one GPU. It is safe for concurrent use.
type Memory struct {
	Model

	mu    sync.Mutex
	free  int
	pools []*Pool
}

// NewMemory makes the memory of a GPU that nobody uses.
func NewMemory(m Model) *Memory { return &Memory{Model: m, free: m.Pages} }

// Surely is how many blocks a pool can have in use, whatever spare pages the other pools keep.
func (m *Memory) Surely(pools int) int { return (m.Pages - (pools-1)*m.Most) * m.Blocks }

// A State is what a pool holds from a moment on, in bytes, as its file says it.
type State struct {
	At                    time.Time
	Limit, Used, Prealloc int64
}

// A Pool is the pages of one server. It is safe for concurrent use.
type Pool struct {
	of   *Memory // whose mutex guards what follows
	used int     // pages with blocks
	// spare pages are mapped and have no blocks; filling says that there are too few.
	spare   int
	filling bool
	file    *file
	log     func(State)
	err     error // of the file

	wake chan struct{} // holds one signal: pages have moved
	quit chan struct{}
	done chan struct{}
}

// Open makes a pool, and its file unless the path is empty. Log, if not nil, is called with each
// state of the pool, in order; it must not block. Close ends the pool.
func (m *Memory) Open(path string, log func(State)) (*Pool, error) {
	p := &Pool{of: m, log: log, wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
	if path != "" {
		var err error
		if p.file, err = create(path); err != nil {
			return nil, err
		}
	}
	m.mu.Lock()
	m.pools = append(m.pools, p)
	p.tell()
	m.mu.Unlock()
	go p.tend()
	return p, nil
}

// Close returns all pages and removes the file. The error is of the file, also of earlier changes.
func (p *Pool) Close() error {
	close(p.quit)
	<-p.done
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.of.free += p.used + p.spare
	p.used, p.spare = 0, 0
	return errors.Join(p.err, p.file.remove())
}

// Use lets the pool have that many blocks in use, and returns how long the pages take that it has to
// map for them. It changes nothing and returns false if the GPU does not have the pages.
func (p *Pool) Use(blocks int) (took time.Duration, ok bool) {
	m := p.of
	m.mu.Lock()
	defer m.mu.Unlock()
	pages := (blocks + m.Blocks - 1) / m.Blocks
	more := pages - p.used
	mapped := max(0, more-p.spare)
	if more == 0 || mapped > m.free {
		return 0, more == 0
	}
	m.free -= mapped
	p.used, p.spare = pages, p.spare+mapped-more
	p.tell()
	p.stir()
	return time.Duration(mapped) * m.Map, true
}

// tend maps and unmaps spare pages until the pool is closed.
func (p *Pool) tend() {
	defer close(p.done)
	for {
		change, takes := p.next()
		if change == 0 {
			select {
			case <-p.wake:
				continue
			case <-p.quit:
				return
			}
		}
		timer := time.NewTimer(takes)
		select {
		case <-timer.C:
			p.shift(change)
		case <-p.quit:
			timer.Stop()
			return
		}
	}
}

// next is how the number of spare pages is to change next, and how long that takes.
func (p *Pool) next() (change int, takes time.Duration) {
	m := p.of
	m.mu.Lock()
	defer m.mu.Unlock()
	p.filling = p.spare < m.Least || p.filling && p.spare < m.Most
	switch {
	case p.spare > m.Most:
		return -1, m.Unmap
	case p.filling && m.free > 0:
		return 1, m.Map
	}
	return 0, 0
}

// shift changes the number of spare pages, unless others have taken the page meanwhile.
func (p *Pool) shift(change int) {
	m := p.of
	m.mu.Lock()
	defer m.mu.Unlock()
	if change > m.free || p.spare+change < 0 {
		return
	}
	m.free -= change
	p.spare += change
	p.tell()
	for _, other := range m.pools {
		other.stir()
	}
}

// stir lets the pool look at its spare pages.
func (p *Pool) stir() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// tell publishes the state of the pool.
func (p *Pool) tell() {
	page := int64(p.of.MiB) << 20
	s := State{time.Now(), int64(p.of.Pages) * page, int64(p.used) * page, int64(p.spare) * page}
	p.err = errors.Join(p.err, p.file.write(s))
	if p.log != nil {
		p.log(s)
	}
}
