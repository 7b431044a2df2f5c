// Package external asks providers outside, such as the search of a vendor's
// documentation, over HTTPS: those that are configured and no others, nothing
// with a secret in it, and the same question once for all callers.
package external

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/knowledge"
)

// Config is an entry of knowledge.external.
type Config struct {
	// Name is what callers call it: lower case letters, digits and dashes.
	Name string `yaml:"name"`
	// Title says what it is.
	Title string `yaml:"title"`
	// URL is asked, with the query in the place of {query}.
	URL string `yaml:"url"`
	// Items is where the list of hits is in the JSON that it answers, keys
	// with dots between; "" where the answer is that list.
	Items string `yaml:"items"`
	// Fields are where a hit has its parts.
	Fields Fields `yaml:"fields"`
	// Allow are the hosts that may be asked, also by redirects: host, or
	// host:port where the port is another than https has. One that is written
	// as an IP address or as localhost may be in a private network.
	Allow []string `yaml:"allow"`
	// TokenFile is a file that holds a token, relative to the configuration's
	// folder; TokenEnv an environment variable that does instead.
	TokenFile string `yaml:"tokenFile"`
	TokenEnv  string `yaml:"tokenEnv"`
	// Cache is how long an answer is kept; default 24h.
	Cache time.Duration `yaml:"cache"`
	// Timeout is how long an answer may take; default 5s, at most 10s.
	Timeout time.Duration `yaml:"timeout"`
}

// Fields are keys of a hit, with dots between; the defaults are title, url and
// text.
type Fields struct {
	Title string `yaml:"title"`
	URL   string `yaml:"url"`
	Text  string `yaml:"text"`
}

// The bounds and defaults of Config.
const (
	DefaultCache   = 24 * time.Hour
	DefaultTimeout = 5 * time.Second
	maxCache       = 30 * 24 * time.Hour
	maxTimeout     = 10 * time.Second
)

// placeholder is where the query goes.
const placeholder = "{query}"

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// Validate tells everything that is wrong with the section; fields begin with
// the entry's place, for example [0].url.
func Validate(cs []Config) []knowledge.ConfigProblem {
	var ps []knowledge.ConfigProblem
	names := map[string]bool{}
	for i := range cs {
		c, add := &cs[i], func(field, format string, args ...any) {
			ps = append(ps, knowledge.ConfigProblem{Field: fmt.Sprintf("[%d].%s", i, field), Message: fmt.Sprintf(format, args...)})
		}
		switch {
		case !nameForm.MatchString(c.Name):
			add("name", "%q is no name of a provider; use lower case letters, digits and dashes", c.Name)
		case names[c.Name]:
			add("name", "another provider is called %q", c.Name)
		}
		names[c.Name] = true
		c.checkPlace(add)
		c.checkBounds(add)
	}
	return ps
}

func (c *Config) checkPlace(add func(field, format string, args ...any)) {
	if len(c.Allow) == 0 {
		add("allow", "name the hosts that may be asked, for example [docs.example.com]")
	}
	for j, h := range c.Allow {
		if !isHost(h) {
			add(fmt.Sprintf("allow[%d]", j), "%q is no host; write for example docs.example.com", h)
			return
		}
	}
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Host == "" || u.Fragment != "":
		add("url", "this is no URL to ask; write for example https://docs.example.com/search?q={query}")
	case u.User != nil:
		add("url", "a URL is no place for credentials; use tokenFile or tokenEnv")
	case strings.Count(c.URL, placeholder) != 1 || !strings.Contains(u.RawQuery, placeholder):
		add("url", "{query} must stand once, behind the question mark, for example ?q={query}")
	case !allowed(c.Allow, u):
		add("url", "%s", refusal(c.Allow, u))
	}
}

// isHost tells whether a text is a host, or a host and a port.
func isHost(h string) bool {
	u, err := url.Parse("https://" + h)
	return err == nil && u.Host == h && u.Hostname() != "" && !strings.ContainsAny(h, "*{}@ ") && h == strings.ToLower(h)
}

func (c *Config) checkBounds(add func(field, format string, args ...any)) {
	if c.TokenFile != "" && c.TokenEnv != "" {
		add("tokenFile", "name tokenFile or tokenEnv, and not both")
	}
	if c.Cache < 0 || c.Cache > maxCache {
		add("cache", "%s is not between nothing and %s", c.Cache, maxCache)
	}
	if c.Timeout < 0 || c.Timeout > maxTimeout {
		add("timeout", "%s is not between nothing and %s", c.Timeout, maxTimeout)
	}
}

func (c Config) withDefaults() Config {
	c.Fields.Title = cmp.Or(c.Fields.Title, "title")
	c.Fields.URL = cmp.Or(c.Fields.URL, "url")
	c.Fields.Text = cmp.Or(c.Fields.Text, "text")
	c.Cache = cmp.Or(c.Cache, DefaultCache)
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	return c
}

// allowed tells whether a URL may be asked: https, and http of this machine
// alone, at a host that is named.
func allowed(allow []string, u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	if u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || !loopback(host)) {
		return false
	}
	if port := u.Port(); port != "" && port != "443" {
		return slices.Contains(allow, net.JoinHostPort(host, port))
	}
	return slices.Contains(allow, strings.ToLower(u.Host)) || slices.Contains(allow, bracketed(host))
}

// refusal says why a URL may not be asked, and nothing of its query.
func refusal(allow []string, u *url.URL) string {
	return fmt.Sprintf("%s://%s is not https at a host of allow (%s)", u.Scheme, u.Host, strings.Join(allow, ", "))
}

func bracketed(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
