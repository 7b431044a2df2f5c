package entity

import (
	"net/url"
	"strings"
)

// RepositoryKey reduces the URL of a repository to what all its forms have in
// common, host/path, so that keys can be compared: https, ssh and git@host:
// forms of one repository have one key. Case, credentials, ports, a leading
// "www.", a trailing ".git" and slashes make no difference. A path on disk is
// its own key. It is "" for "".
func RepositoryKey(repository string) string {
	s := strings.TrimSpace(repository)
	if s == "" {
		return ""
	}
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return scpKey(s)
	}
	if strings.EqualFold(scheme, "file") {
		return trimRepository(strings.TrimPrefix(rest, "localhost"))
	}
	u, err := url.Parse(s)
	if err != nil {
		return trimRepository(strings.ToLower(rest))
	}
	return hostKey(u.Hostname(), u.Path)
}

// scpKey reads [user@]host:path; anything else is a path on disk.
func scpKey(s string) string {
	host, path, ok := strings.Cut(s, ":")
	if !ok || strings.ContainsAny(host, "/\\") || len(host) < 2 {
		return trimRepository(s)
	}
	return hostKey(host[strings.LastIndexByte(host, '@')+1:], path)
}

func hostKey(host, path string) string {
	host = strings.TrimPrefix(strings.ToLower(host), "www.")
	return trimRepository(host + "/" + strings.ToLower(strings.Trim(path, "/")))
}

func trimRepository(s string) string {
	if t := strings.TrimRight(s, "/"); t != "" {
		s = t
	}
	return strings.TrimSuffix(s, ".git")
}
