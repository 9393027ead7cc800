package wire

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// proxies are the schemes of proxies that net/http knows.
var proxies = []string{"http", "https", "socks5", "socks5h"}

// environmentsProxy finds the proxy for a request in the current environment: in HTTP_PROXY or
// HTTPS_PROXY, by the scheme of the request's URL, else in ALL_PROXY. Hosts in NO_PROXY and this
// machine have no proxy. Lower-case names work, too.
func environmentsProxy() func(*http.Request) (*url.URL, error) {
	env := httpproxy.FromEnvironment()
	all := cmp.Or(os.Getenv("ALL_PROXY"), os.Getenv("all_proxy"))
	for _, proxy := range []*string{&env.HTTPProxy, &env.HTTPSProxy} {
		*proxy = cmp.Or(*proxy, all)
		if after, ok := strings.CutPrefix(*proxy, "socks://"); ok { // GNOME's spelling
			*proxy = "socks5://" + after
		}
	}
	find := env.ProxyFunc()
	return func(r *http.Request) (*url.URL, error) {
		proxy, err := find(r.URL)
		if err == nil && proxy != nil && !slices.Contains(proxies, proxy.Scheme) {
			return nil, fmt.Errorf("the proxy %s: it must be of http, https or socks5, not %s", proxy.Host, proxy.Scheme)
		}
		return proxy, err
	}
}
