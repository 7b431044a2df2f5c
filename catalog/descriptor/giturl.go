package descriptor

import (
	"errors"
	"slices"
	"strings"

	"github.com/nlnwa/whatwg-url/url"
)

// gitURL is what the path of a repository's web URL says. Every forge writes
// owner, repository, kind of page, branch and file one after the other.
type gitURL struct {
	host, owner, name, ref, filepath string
}

// fullName is owner and repository.
func (g gitURL) fullName() string { return g.owner + "/" + g.name }

var errPercent = errors.New("malformed percent-encoding")

// decode is JavaScript's decodeURIComponent.
func decode(s string) (string, error) {
	if strings.IndexByte(s, '%') < 0 {
		return s, nil
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b = append(b, s[i])
			continue
		}
		if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
			return "", errPercent
		}
		b = append(b, unhex(s[i+1])<<4|unhex(s[i+2]))
		i += 2
	}
	if d := string(b); strings.ToValidUTF8(d, "") == d {
		return d, nil
	}
	return "", errPercent
}

func isHex(c byte) bool { return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }

func unhex(c byte) byte {
	switch {
	case isDigit(c):
		return c - '0'
	case c >= 'a':
		return c - 'a' + 10
	default:
		return c - 'A' + 10
	}
}

// encode is JavaScript's encodeURIComponent.
func encode(s string) string {
	plain := func(c byte) bool { return isAlnum(c) || strings.IndexByte("-_.!~*'()", c) >= 0 }
	if all(s, plain) {
		return s
	}
	const hex = "0123456789ABCDEF"
	b := make([]byte, 0, len(s)+8)
	for i := 0; i < len(s); i++ {
		if plain(s[i]) {
			b = append(b, s[i])
		} else {
			b = append(b, '%', hex[s[i]>>4], hex[s[i]&15])
		}
	}
	return string(b)
}

// parseGit reads a repository's web URL by the rules that Backstage's parser
// goes by.
func parseGit(u *url.Url) (gitURL, error) {
	path := u.Pathname()
	whole := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/"), ".git")
	whole, err := decode(whole)
	if err != nil {
		return gitURL{}, err
	}
	owner, err := decode(u.Username())
	if err != nil {
		return gitURL{}, err
	}
	g := gitURL{host: u.Hostname(), owner: owner, name: whole}
	if server, ok := parseBitbucketServer(path); ok {
		server.host = g.host
		return server, nil
	}
	parts := strings.Split(whole, "/")
	at := len(parts) - 1
	if len(parts) >= 2 {
		at = nameIndex(parts)
		g.owner, g.name = strings.Join(parts[:at], "/"), parts[at]
	}
	if at+1 < len(parts) && parts[at+1] == "-" {
		at++
	}
	if len(parts) > at+2 && slices.Contains([]string{"raw", "src", "blob", "tree", "edit"}, parts[at+1]) {
		g.ref, g.filepath = parts[at+2], strings.Join(parts[at+3:], "/")
	}
	g.owner = strings.TrimPrefix(g.owner, "scm/")
	return g, nil
}

// nameIndex is which part names the repository: the one before the word that
// tells the kind of page, else the last.
func nameIndex(parts []string) int {
	index := func(word string) int {
		if i := slices.Index(parts[2:], word); i >= 0 {
			return i + 2
		}
		return -1
	}
	if dash := index("-"); dash > 0 {
		return dash - 1
	}
	blob, tree := index("blob"), index("tree")
	if blob > 0 && tree > 0 {
		return min(blob, tree) - 1
	}
	for _, i := range []int{blob, index("issues"), tree, index("commit"), index("src"), index("raw"), index("edit")} {
		if i > 0 {
			return i - 1
		}
	}
	return len(parts) - 1
}

// parseBitbucketServer reads …/projects/P/repos/R/browse/path, also with
// users in the place of projects.
func parseBitbucketServer(path string) (gitURL, bool) {
	for _, word := range []string{"projects/", "users/"} {
		_, rest, ok := strings.Cut(path, word)
		if !ok {
			continue
		}
		owner, rest, ok := strings.Cut(rest, "/repos/")
		if !ok {
			continue
		}
		name, rest, _ := strings.Cut(rest, "/")
		g := gitURL{owner: owner, name: name}
		if word == "users/" {
			g.owner = "~" + owner
		}
		page, file, _ := strings.Cut(rest, "/")
		if page == "raw" || page == "browse" {
			g.filepath = file
		}
		return g, true
	}
	return gitURL{}, false
}

// sameRepository tells whether a placeholder in the file at base may name
// target: it may not leave the repository, as far as that can be told.
func (p *Processor) sameRepository(target, base *url.Url) bool {
	f := p.forgeOf(target)
	if f != "" && target.Host() != base.Host() {
		return false
	}
	if s := base.Scheme(); s != "http" && s != "https" {
		return true
	}
	if f == azure {
		t, ok := parseAzure(target)
		b, known := parseAzure(base)
		return ok && known && t.repository == b.repository
	}
	t, err := parseGit(target)
	b, errBase := parseGit(base)
	if err != nil || errBase != nil || t.climbs() || b.climbs() {
		return false
	}
	if !bothFiles(f, t, b) || f == "" && t.host != b.host {
		return true
	}
	return t.host == b.host && t.fullName() == b.fullName()
}

// climbs tells whether owner or repository is written so that it could mean
// another one.
func (g gitURL) climbs() bool {
	return strings.Contains(g.owner+g.name, "%") ||
		slices.Contains(strings.Split(g.owner, "/"), "..") || slices.Contains(strings.Split(g.name, "/"), "..")
}

// bothFiles tells whether two URLs are known to name files of repositories.
func bothFiles(f forge, a, b gitURL) bool {
	if a.owner == "" || a.name == "" || b.owner == "" || b.name == "" {
		return false
	}
	if f == github || f == gitlab || f == bitbucketCloud {
		return a.filepath != "" || b.filepath != ""
	}
	return a.filepath != "" && b.filepath != ""
}
