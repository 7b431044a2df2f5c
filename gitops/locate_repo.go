package gitops

import (
	"net/url"
	"path"
	"strings"
)

// sameRepository tells whether two URLs name one repository, however it is
// reached.
func sameRepository(a, b string) bool { return repoKey(a) == repoKey(b) }

// repoKey is host and path of a repository's URL, in small letters: the forges
// do not tell names by their case.
func repoKey(repository string) string {
	s := plainRepo(repository)
	if host, rest, ok := strings.Cut(s, ":"); ok && !strings.Contains(s, "://") && !strings.Contains(host, "/") {
		s = "ssh://" + host[strings.LastIndexByte(host, '@')+1:] + "/" + rest
	}
	if u, err := url.Parse(s); err == nil && u.Host != "" {
		s = u.Hostname() + path.Clean("/"+u.Path)
	}
	return strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(s, "file://"), "/"), ".git"))
}

// plainRepo is a repository's URL without a user's name and password.
func plainRepo(repository string) string {
	u, err := url.Parse(repository)
	if err != nil || u.User == nil {
		return repository
	}
	u.User = nil
	return u.String()
}
