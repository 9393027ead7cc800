package exchange

import (
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/servebench/servebench/loadgen/wire"
)

// cookies are what an endpoint has set, and expects back: a balancer finds the replica of a client by
// them. All requests of a target are one client, as the session of vLLM's client is. Like that, it takes
// no cookies from a host that is named by its address. The zero value has none, and it is safe for
// concurrent use.
type cookies struct {
	jar atomic.Pointer[cookiejar.Jar] // nil until a cookie is set

	mu    sync.Mutex
	names map[string]bool // that were ever to be returned
}

// keep keeps the cookies of a reply from u, and tells tally the names of those that requests return.
func (c *cookies) keep(u *url.URL, reply *http.Response, tally *wire.Tally) {
	if len(reply.Header["Set-Cookie"]) == 0 {
		return
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	jar := c.jar.Load()
	if jar == nil {
		jar, _ = cookiejar.New(nil) // it has no error
		c.names = map[string]bool{}
	}
	jar.SetCookies(u, reply.Cookies())
	c.jar.Store(jar)
	for _, cookie := range jar.Cookies(u) {
		if !c.names[cookie.Name] {
			c.names[cookie.Name] = true
			tally.Cookies(slices.Sorted(maps.Keys(c.names)))
		}
	}
}

// send gives the cookies for the URL of r to r. The cookies that r has already stay, unless the server has
// set others of the same name.
func (c *cookies) send(r *http.Request) {
	jar := c.jar.Load()
	if jar == nil {
		return
	}
	kept := jar.Cookies(r.URL)
	if len(kept) == 0 {
		return
	}
	values := map[string]string{}
	for _, cookie := range slices.Concat(r.Cookies(), kept) {
		values[cookie.Name] = cookie.String()
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all = append(all, values[name])
	}
	r.Header.Set("Cookie", strings.Join(all, "; "))
}
