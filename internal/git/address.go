package git

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// reach is how a repository is reached.
type reach int

const (
	unknownReach reach = iota
	onDisk
	overHTTP
	overSSH
)

// address is a repository's URL taken apart.
type address struct {
	kind reach
	// url is where it is, without credentials; for a path, the path.
	url *url.URL
	// path on disk, or the path that an ssh server is asked for.
	path string
}

// scpForm is user@host:path, the short form of ssh.
var scpForm = regexp.MustCompile(`^(?:([^@/\s:]+)@)?([A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\]):([^/\s][^\s]*|/[^\s/][^\s]*)$`)

// parseAddress reads a repository's URL or path. Errors are for people and
// never hold what may be a password.
func parseAddress(s string) (address, error) {
	if strings.ContainsAny(s, "\x00\n\r") {
		return address{}, errors.New("a URL has no line breaks")
	}
	scheme, _, isURL := strings.Cut(s, "://")
	if !isURL {
		if m := scpForm.FindStringSubmatch(s); m != nil {
			u := &url.URL{Scheme: "ssh", Host: m[2], Path: "/" + strings.TrimPrefix(m[3], "/")}
			if m[1] != "" {
				u.User = url.User(m[1])
			}
			return address{kind: overSSH, url: u, path: m[3]}, nil
		}
		return address{kind: onDisk, path: s}, nil
	}
	u, err := url.Parse(s)
	if err != nil {
		return address{}, errors.New("not a URL that can be read")
	}
	switch strings.ToLower(scheme) {
	case "file":
		if u.Host != "" && u.Host != "localhost" {
			return address{}, fmt.Errorf("file://%s/ names another host; write file:///path", u.Host)
		}
		return address{kind: onDisk, path: u.Path}, nil
	case "http", "https":
		return httpAddress(u)
	case "ssh":
		if u.Hostname() == "" || strings.Trim(u.Path, "/") == "" {
			return address{}, errors.New("the URL names no host or no repository")
		}
		if _, secret := u.User.Password(); secret {
			return address{}, errors.New("a URL is no place for a password; use credentials.sshKeyFile")
		}
		path := u.Path
		if strings.HasPrefix(path, "/~") {
			path = path[1:]
		}
		return address{kind: overSSH, url: u, path: path}, nil
	default:
		return address{}, fmt.Errorf("%s:// is not supported; use https, ssh or a path", scheme)
	}
}

func httpAddress(u *url.URL) (address, error) {
	switch {
	case u.User != nil:
		return address{}, errors.New("a URL is no place for credentials; use credentials.tokenFile or credentials.tokenEnv")
	case u.Hostname() == "":
		return address{}, errors.New("the URL names no host")
	case u.RawQuery != "" || u.Fragment != "":
		return address{}, errors.New("the URL of a repository has no query and no fragment")
	case strings.Trim(u.Path, "/") == "":
		return address{}, errors.New("the URL names no repository")
	}
	return address{kind: overHTTP, url: u}, nil
}

// insecure tells whether what is sent can be read on the way: plain HTTP to
// another machine.
func (a address) insecure() bool {
	return a.kind == overHTTP && strings.EqualFold(a.url.Scheme, "http") && !loopback(a.url.Hostname())
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// absolute makes a path on disk absolute.
func (a address) absolute(base string) address {
	if a.kind == onDisk {
		if !filepath.IsAbs(a.path) {
			a.path = filepath.Join(base, a.path)
		}
		if abs, err := filepath.Abs(a.path); err == nil {
			a.path = abs
		}
	}
	return a
}

// String is the address as it may be shown.
func (a address) String() string {
	if a.kind == onDisk || a.url == nil {
		return a.path
	}
	u := *a.url
	u.User = nil
	return u.String()
}

// web is the page that the address suggests: scp and ssh forms mean https.
func (a address) web() string {
	if a.kind == onDisk {
		return (&url.URL{Scheme: "file", Path: path.Clean(filepath.ToSlash(a.path))}).String()
	}
	u := url.URL{Scheme: "https", Host: a.url.Hostname(), Path: a.url.Path}
	if a.kind == overHTTP {
		u.Scheme, u.Host = a.url.Scheme, a.url.Host
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), ".git")
	return u.String()
}

// webURL tells whether s can be a repository's page.
func webURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

// withoutCredentials is a URL as it may be shown, whatever it is.
func withoutCredentials(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return s
	}
	host, tail, slash := strings.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	if slash {
		tail = "/" + tail
	}
	return scheme + "://" + host + tail
}
