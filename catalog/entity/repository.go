package entity

import (
	"net/url"
	"strings"
)

// RepositoryKey is what two URLs of one repository have in common, whatever
// their form: host/path in lower-case host, without scheme, user, port of the
// scheme, .git or a trailing slash. It understands https, ssh and scp forms
// (git@host:path); of a page inside a forge's repository (…/tree/main/…) the
// repository is meant. "" stands for no repository.
func RepositoryKey(repository string) string {
	s := strings.TrimSpace(repository)
	if !strings.Contains(s, "://") {
		if host, path, ok := strings.Cut(s, ":"); ok && !strings.Contains(host, "/") {
			s = "ssh://" + host + "/" + strings.TrimPrefix(path, "/")
		} else if !strings.HasPrefix(s, "/") {
			s = "https://" + s
		}
	}
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	path := strings.TrimSuffix(strings.Trim(repositoryPath(u.Path), "/"), ".git")
	host := strings.ToLower(u.Hostname())
	if path == "" {
		return ""
	}
	if u.Scheme == "file" || host == "" {
		return "file/" + path
	}
	if p := u.Port(); p != "" && p != "443" && p != "80" && p != "22" {
		host += ":" + p
	}
	return host + "/" + path
}

// repositoryPath cuts what follows the repository in a forge's page.
func repositoryPath(p string) string {
	for _, mark := range []string{"/-/", "/tree/", "/blob/", "/src/branch/", "/raw/", "/edit/"} {
		if i := strings.Index(p, mark); i > 0 {
			return p[:i]
		}
	}
	return p
}
