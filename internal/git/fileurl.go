package git

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// FileURL is the page of a file of a repository, taken apart.
type FileURL struct {
	// Host is the host, with the port where the URL names one that its scheme
	// does not imply; lower case.
	Host string
	// WebURL is the repository's page.
	WebURL string
	// Owner is the path above the repository: an organization, a user, or a
	// group and its subgroups.
	Owner string
	// Ref is the branch, tag or commit, as SourceConfig.Ref takes it; "" for
	// HEAD.
	Ref string
	// Forge is the form of the URL: github, gitlab or gitea.
	Forge string
}

// CloneURL is where the repository is fetched from, as the forges have it.
func (f FileURL) CloneURL() string { return f.WebURL + ".git" }

// maxFileURL bounds what is taken apart, in bytes.
const maxFileURL = 2048

// ParseFileURL takes apart the URL by which GitHub, GitLab or Gitea show a
// file. A branch whose name holds slashes cannot be told from folders: its
// first part counts. The error is an invalid.
func ParseFileURL(target string) (FileURL, error) {
	refuse := func(why string) (FileURL, error) {
		return FileURL{}, fault.New(fault.Invalid, "%s %s", clipURL(target), why).
			WithFix("Give the URL at which the forge shows the file, for example https://github.com/acme/shop/blob/main/catalog-info.yaml.")
	}
	u, err := url.Parse(target)
	switch {
	case len(target) > maxFileURL:
		return refuse(fmt.Sprintf("is longer than %d bytes", maxFileURL))
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return refuse("is no http or https URL")
	case u.User != nil:
		return refuse("holds a user name or a password")
	}
	parts := strings.Split(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	if slices.ContainsFunc(parts, oddPart) {
		return refuse("has a path with empty or dotted parts")
	}
	f, at := FileURL{Host: hostOfURL(u)}, 0
	if at, f.Forge, f.Ref = pageOf(parts); at < 2 || f.Ref == "" {
		return refuse("is not the page of a file of a repository")
	}
	if f.Ref, err = url.PathUnescape(f.Ref); err != nil || !safeRef(f.Ref) {
		return refuse("names no branch, tag or commit")
	}
	if f.Ref == "HEAD" {
		f.Ref = ""
	}
	if f.Owner, err = url.PathUnescape(strings.Join(parts[:at-1], "/")); err != nil {
		return refuse("has a path that cannot be decoded")
	}
	f.WebURL = u.Scheme + "://" + u.Host + "/" + strings.Join(parts[:at], "/")
	return f, nil
}

// oddPart tells whether a part of a path could mean another place.
func oddPart(part string) bool {
	plain, err := url.PathUnescape(part)
	return err != nil || plain == "" || plain == "." || plain == ".." || strings.ContainsAny(plain, "/\\\x00")
}

// hostOfURL is the host, with a port that is not the scheme's own.
func hostOfURL(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" || u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		return host
	}
	return host + ":" + port
}

// pageOf finds where the repository's path ends, and the form and the ref of
// the page; at is 0 where the path is of no file.
func pageOf(parts []string) (at int, forge, ref string) {
	shows := func(word string) bool { return slices.Contains([]string{"blob", "tree", "raw", "edit"}, word) }
	for i := 2; i+2 < len(parts); i++ {
		switch {
		case parts[i] == "-" && i+3 < len(parts) && shows(parts[i+1]):
			return i, forgeGitLab, parts[i+2]
		case parts[i] == "src" && i+3 < len(parts):
			switch parts[i+1] {
			case "branch", "commit":
				return i, forgeGitea, parts[i+2]
			case "tag":
				return i, forgeGitea, "refs/tags/" + parts[i+2]
			}
		case shows(parts[i]):
			return i, forgeGitHub, parts[i+1]
		}
	}
	return 0, "", ""
}

func clipURL(s string) string {
	s = withoutCredentials(s)
	if r := []rune(s); len(r) > 200 {
		s = string(r[:200]) + "…"
	}
	return s
}
