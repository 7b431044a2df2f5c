// Package backstage reads the catalog of an existing Backstage by its REST
// API, so that Fairlead can stand beside it. Each entity is one virtual file
// whose path is its kind, namespace and name; what changed is told from the
// entities' etags, and only that is fetched.
package backstage

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Config is the section backstage of a catalog source.
type Config struct {
	// URL is the base of the back end, or of its catalog API, whose path ends
	// in /catalog.
	URL string `yaml:"url"`
	// Credentials are what the back end asks for; without any none are sent.
	Credentials Credentials `yaml:"credentials"`
	// Filter narrows what is read, in the form of Backstage's own parameter
	// filter: an entity is read if one of them holds. Default is everything.
	Filter []string `yaml:"filter"`
	// Limits bound what reading may cost.
	Limits Limits `yaml:"limits"`
}

// Credentials say where a token is found. It is read anew for each request,
// so that it may be rotated.
type Credentials struct {
	// TokenFile is a file that holds it, relative to the configuration's
	// folder.
	TokenFile string `yaml:"tokenFile"`
	// TokenEnv is an environment variable that holds it instead.
	TokenEnv string `yaml:"tokenEnv"`
}

// Limits bound what reading may cost; zero values mean the defaults.
type Limits struct {
	// Timeout of one request; default 30s.
	Timeout time.Duration `yaml:"timeout"`
	// Entities of the catalog; default 200,000. A larger one is not read.
	Entities int `yaml:"entities"`
	// EntityBytes of one entity's JSON; default 4 MiB. Larger ones are
	// reported and not read.
	EntityBytes int64 `yaml:"entityBytes"`
}

// The defaults of Limits.
const (
	DefaultTimeout           = 30 * time.Second
	DefaultEntities          = 200_000
	DefaultEntityBytes int64 = 4 << 20
)

const (
	maxFilter = 2000       // bytes of one filter, as it is part of a URL
	maxToken  = 64 << 10   // bytes of a token
	maxAnswer = 32 << 20   // bytes of an answer with entities
	apiPath   = "/catalog" // how the path of the catalog's API ends
)

// Problem is one thing wrong with a Config.
type Problem struct {
	// Field is the key below backstage, for example credentials.tokenFile.
	Field string
	// Message says what is wrong and what to write.
	Message string
}

type problems []Problem

func (p *problems) add(field, format string, args ...any) {
	*p = append(*p, Problem{Field: field, Message: fmt.Sprintf(format, args...)})
}

// Validate tells everything that is wrong with the section. It looks at no
// file and no network.
func (c *Config) Validate() []Problem {
	var ps problems
	if c.URL == "" {
		ps.add("url", "the URL of the Backstage back end is missing")
	} else if u, err := parseURL(c.URL); err != nil {
		ps.add("url", "%v", err)
	} else if u.Scheme == "http" && c.Credentials.set() && !loopback(u.Hostname()) {
		ps.add("url", "a token would travel unencrypted; use https")
	}
	if c.Credentials.TokenFile != "" && c.Credentials.TokenEnv != "" {
		ps.add("credentials", "name tokenFile or tokenEnv, and not both")
	}
	for i, f := range c.Filter {
		if strings.TrimSpace(f) == "" || len(f) > maxFilter || strings.ContainsFunc(f, control) {
			ps.add(fmt.Sprintf("filter[%d]", i), "%.60q is no filter; write for example kind=component,spec.type=service", f)
		}
	}
	if c.Limits.Timeout < 0 {
		ps.add("limits.timeout", "%s is less than nothing", c.Limits.Timeout)
	}
	if c.Limits.Entities < 0 {
		ps.add("limits.entities", "%d is less than nothing", c.Limits.Entities)
	}
	if n := c.Limits.EntityBytes; n < 0 || n > maxAnswer {
		ps.add("limits.entityBytes", "%d is not between 0 and %d", n, maxAnswer)
	}
	return ps
}

func control(r rune) bool { return r < ' ' || r == 0x7f }

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// parseURL reads the configured URL; its errors hold no credentials.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("this is no http or https URL; write for example https://backstage.example.com")
	case u.User != nil:
		return nil, fmt.Errorf("a URL is no place for credentials; use credentials.tokenFile or credentials.tokenEnv")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("the URL has a query or fragment; write the base of the back end alone")
	}
	return u, nil
}

// apiOf is the base of the catalog's API, without a slash at its end.
func apiOf(u *url.URL) *url.URL {
	path := strings.TrimRight(u.Path, "/")
	if !strings.HasSuffix(path, apiPath) {
		path += "/api" + apiPath
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: path}
}

func (l Limits) withDefaults() Limits {
	if l.Timeout == 0 {
		l.Timeout = DefaultTimeout
	}
	if l.Entities == 0 {
		l.Entities = DefaultEntities
	}
	if l.EntityBytes == 0 {
		l.EntityBytes = DefaultEntityBytes
	}
	return l
}

func (c Credentials) set() bool { return c.TokenFile != "" || c.TokenEnv != "" }

// in resolves a relative file against a folder.
func (c Credentials) in(dir string) Credentials {
	if c.TokenFile != "" && !filepath.IsAbs(c.TokenFile) {
		c.TokenFile = filepath.Join(dir, c.TokenFile)
	}
	return c
}

// String says where the token is found, and nothing of the token.
func (c Credentials) String() string {
	switch {
	case c.TokenFile != "":
		return "the token file " + c.TokenFile
	case c.TokenEnv != "":
		return "the environment variable " + c.TokenEnv
	default:
		return "a file that credentials.tokenFile of the source names"
	}
}

// token reads the token; "" where none is configured.
func (c Credentials) token() (string, error) {
	if !c.set() {
		return "", nil
	}
	text := os.Getenv(c.TokenEnv)
	if c.TokenFile != "" {
		data, err := readSmall(c.TokenFile)
		if err != nil {
			return "", fmt.Errorf("%s cannot be read", c)
		}
		text = string(data)
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return "", fmt.Errorf("%s is empty", c)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "", fmt.Errorf("%s holds something other than one token", c)
	}
	return text, nil
}

func readSmall(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxToken {
		return nil, os.ErrInvalid
	}
	return os.ReadFile(file)
}
