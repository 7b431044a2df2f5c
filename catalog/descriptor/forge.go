package descriptor

import (
	"errors"
	"slices"
	"strings"

	"github.com/nlnwa/whatwg-url/url"
)

// forge is the software that serves a host's repositories; it decides what
// URLs look like. The empty forge is a host of which nothing is known.
type forge string

const (
	github          forge = "github"
	gitlab          forge = "gitlab"
	gitea           forge = "gitea"
	bitbucketCloud  forge = "bitbucketCloud"
	bitbucketServer forge = "bitbucketServer"
	azure           forge = "azure"
	storage         forge = "storage"
)

// ForgeNames are the values that Options.Forges takes.
func ForgeNames() []string {
	return []string{string(github), string(gitlab), string(gitea), string(bitbucketCloud), string(bitbucketServer), string(azure)}
}

// knownForges are the hosts that Backstage knows without configuration.
func knownForges() map[string]forge {
	return map[string]forge{
		"github.com": github, "gitlab.com": gitlab, "bitbucket.org": bitbucketCloud, "dev.azure.com": azure,
		"amazonaws.com": storage, "blob.core.windows.net": storage, "storage.cloud.google.com": storage,
	}
}

// newParser makes a parser that reads URLs as the browsers of today do: they
// encode one sign more in paths than the library's default.
func newParser() url.Parser {
	return url.NewParser(url.WithPathPercentEncodeSet(url.PathPercentEncodeSet.Set('^')))
}

// forgeOf is the forge that serves a URL.
func (p *Processor) forgeOf(u *url.Url) forge { return p.forges[u.Host()] }

// resolveURL is the URL that ref means in the file at base: an absolute URL
// stays as it is written, a leading "/" means the root of the repository and
// branch, anything else is relative to base.
func (p *Processor) resolveURL(base, ref string) (string, error) {
	b, err := p.parse(base)
	if err != nil {
		if p.isAbsolute(ref) {
			return ref, nil
		}
		return "", err
	}
	return p.resolveFrom(b, ref)
}

// isAbsolute tells whether a URL needs no base. Most references are told at
// their first sign: a scheme starts with a letter.
func (p *Processor) isAbsolute(ref string) bool {
	if len(ref) > maxReference {
		return false
	}
	start := strings.TrimLeftFunc(ref, func(r rune) bool { return r <= ' ' })
	if start == "" || !isLower(start[0]) && !isUpper(start[0]) || strings.IndexByte(start, ':') < 0 {
		return false
	}
	_, err := p.urls.Parse(ref)
	return err == nil
}

// resolveFrom is resolveURL with a base that has been parsed and is not
// changed.
func (p *Processor) resolveFrom(base *url.Url, ref string) (string, error) {
	if len(ref) > maxReference {
		return "", errLong
	}
	f := p.forgeOf(base)
	out, err := p.resolveWith(f, base, ref)
	if err == nil && f == github {
		out = githubForm(out, "tree")
	}
	return out, err
}

// The lengths in bytes of the longest reference that is resolved and of the
// longest URL that is taken apart; no file system or forge has longer ones.
const (
	maxReference = 2048
	maxLocation  = 8192
)

// parse takes a location's URL apart.
func (p *Processor) parse(target string) (*url.Url, error) {
	if len(target) > maxLocation {
		return nil, errLong
	}
	return p.urls.Parse(target)
}

var (
	errTraversal = errors.New("the path climbs out of its folder")
	errLong      = errors.New("the URL is too long")
)

func (p *Processor) resolveWith(f forge, base *url.Url, ref string) (string, error) {
	if p.isAbsolute(ref) {
		return ref, nil
	}
	if f == azure {
		if out, ok := p.azureResolve(base, ref); ok {
			return out, nil
		}
	}
	if strings.HasPrefix(ref, "/") {
		return fromRoot(base.Clone(), ref)
	}
	u, err := base.Parse(ref)
	if err != nil {
		return "", err
	}
	u.SetSearch(base.Search())
	return u.Href(false), nil
}

// fromRoot resolves a reference to the root of a repository and branch.
// Backstage cuts the decoded path of the file off the encoded URL by its
// length, and so does this.
func fromRoot(base *url.Url, ref string) (string, error) {
	g, err := parseGit(base)
	if err != nil {
		return "", err
	}
	if climbs(g.filepath) {
		return "", errTraversal
	}
	path := base.Pathname()
	if strings.HasSuffix(base.Href(false), "/") {
		path = strings.TrimSuffix(path, "/")
	}
	root := path[:max(0, len(path)-utf16Len(g.filepath))]
	base.SetPathname(strings.TrimRight(root, "/") + ref)
	return base.Href(false), nil
}

// maxEncoding is how often a path may be percent-encoded.
const maxEncoding = 20

// climbs tells whether a path holds . or .., however often encoded.
func climbs(path string) bool {
	for pass := 0; ; pass++ {
		decoded, err := decode(path)
		if err != nil || decoded == path {
			break
		}
		if pass == maxEncoding {
			return true
		}
		path = decoded
	}
	return slices.ContainsFunc(strings.Split(path, "/"), func(s string) bool { return s == "." || s == ".." })
}

// utf16Len is the length of s as JavaScript counts it.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r >= 0x10000 {
			n++
		}
	}
	return n
}

// editURL is where a forge edits the file at target; "" where that is not
// known.
func (p *Processor) editURL(f forge, u *url.Url, target string) string {
	switch f {
	case "":
		return ""
	case github:
		return githubForm(target, "edit")
	case gitlab:
		return gitlabForm(target, "edit")
	case gitea:
		return giteaEdit(u, target)
	case bitbucketCloud:
		g, err := parseGit(u)
		if err != nil {
			return ""
		}
		return withQuery(u, "mode", "edit", "at", g.ref)
	case bitbucketServer:
		before, _, _ := strings.Cut(target, "?")
		return before
	case azure:
		if g, ok := parseAzure(u); !ok || g.path == "" || g.path == "/" {
			return target
		}
		return withQuery(u, "_a", "edit")
	default:
		return target
	}
}

// githubForm puts another word in the place of blob, tree or edit in the
// first //host/owner/repository/word/ of s.
func githubForm(s, word string) string {
	for from := 0; ; {
		i := strings.Index(s[from:], "//")
		if i < 0 {
			return s
		}
		from += i + 1
		if at, end := fourth(s, from+1); at > 0 {
			switch s[at:end] {
			case "blob", "tree", "edit":
				return s[:at] + word + s[end:]
			}
		}
	}
}

// fourth finds the fourth segment of s from start on: three that are not
// empty, then one that ends in a slash.
func fourth(s string, start int) (at, end int) {
	at = start
	for range 3 {
		i := strings.IndexByte(s[at:], '/')
		if i <= 0 {
			return 0, 0
		}
		at += i + 1
	}
	i := strings.IndexByte(s[at:], '/')
	if i < 0 {
		return 0, 0
	}
	return at, at + i
}

// gitlabForm puts another word in the place of blob, tree or edit in the
// first /-/word/ of s.
func gitlabForm(s, word string) string {
	for from := 0; ; {
		i := strings.Index(s[from:], "/-/")
		if i < 0 {
			return s
		}
		at := from + i + len("/-/")
		if end := strings.IndexByte(s[at:], '/'); end >= 0 {
			switch s[at : at+end] {
			case "blob", "tree", "edit":
				return s[:at] + word + s[at+end:]
			}
		}
		from += i + 1
	}
}

// giteaEdit is the editor's URL for owner/name/src/branch/ref/path, below the
// path that Gitea is served at.
func giteaEdit(u *url.Url, target string) string {
	base := u.Protocol() + "//" + u.Host()
	if page, _, ok := strings.Cut(target, "/src/branch/"); ok {
		repo := strings.LastIndexByte(page, '/')
		if owner := strings.LastIndexByte(page[:max(repo, 0)], '/'); owner >= len(base) {
			base = page[:owner]
		}
	}
	parts := strings.Split(strings.Replace(target, base, "", 1), "/")
	if len(parts) < 6 {
		return ""
	}
	path := strings.TrimPrefix(strings.Join(parts[6:], "/"), "/")
	return strings.Join([]string{base, parts[1], parts[2], "_edit", parts[5], path}, "/")
}
