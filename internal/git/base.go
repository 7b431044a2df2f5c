package git

import (
	"net/url"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

// The forges whose URLs are known.
const (
	forgeGitHub = "github"
	forgeGitLab = "gitlab"
	forgeGitea  = "gitea"
)

// forgeOf guesses the software behind a page from its host's name; "" where
// it tells nothing.
func forgeOf(web string) string {
	u, err := url.Parse(web)
	if err != nil {
		return ""
	}
	for label := range strings.SplitSeq(strings.ToLower(u.Hostname()), ".") {
		switch label {
		case "github", "gitlab", "gitea":
			return label
		case "codeberg", "forgejo":
			return forgeGitea
		}
	}
	return ""
}

// baseURL is the URL that a forge shows the root folder of a ref by, with a
// slash at the end. An empty forge means the form that GitHub uses, an empty
// ref HEAD.
func baseURL(web, forge, ref string) string {
	web = strings.TrimRight(web, "/")
	kind, name := refKind(ref)
	name = escapeRef(name)
	switch forge {
	case forgeGitLab:
		return web + "/-/blob/" + name + "/"
	case forgeGitea:
		return web + "/src/" + kind + "/" + name + "/"
	default:
		return web + "/blob/" + name + "/"
	}
}

// refKind tells what a configured ref most likely is, and its short name.
func refKind(ref string) (kind, name string) {
	if ref == "" {
		return "branch", "HEAD"
	}
	if tag, ok := strings.CutPrefix(ref, "refs/tags/"); ok {
		return "tag", tag
	}
	if _, ok := objects.ParseID(ref); ok {
		return "commit", ref
	}
	return "branch", strings.TrimPrefix(ref, "refs/heads/")
}

func escapeRef(ref string) string {
	parts := strings.Split(ref, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}
