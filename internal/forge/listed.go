package forge

import (
	"net/url"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Listed completes a list that a host gave in answer to a step: it is ordered
// by name, and each repository is cloned from the address that is configured,
// whatever the host takes itself for, since that is where the token may go. A
// name that is no path is an error, as names become folders.
func (w Wire) Listed(step string, web *url.URL, repos []Repository) ([]Repository, error) {
	for i := range repos {
		r := &repos[i]
		var ps Problems
		if ValidateName(&ps, "", r.FullName); len(ps) > 0 {
			return nil, fault.New(fault.Unavailable, "%s: %s lists a repository named %.100q, which is no name of one", step, w.Host, r.FullName).
				WithFix("Check that the address is that of the forge.")
		}
		r.CloneURL = CloneURL(web, r.FullName)
	}
	slices.SortFunc(repos, func(x, y Repository) int { return strings.Compare(x.FullName, y.FullName) })
	return repos, nil
}

// CloneURL is where Git reads a repository of a forge that is served at web.
func CloneURL(web *url.URL, fullName string) string { return web.JoinPath(fullName + ".git").String() }

// Located completes an event with the address that the repository is cloned
// from, where the forge is configured by another than it tells.
func (e Event) Located(web *url.URL) Event {
	if e.Repository == "" {
		return e
	}
	if own := CloneURL(web, e.Repository); !slices.Contains(e.CloneURLs, own) {
		e.CloneURLs = append(slices.Clone(e.CloneURLs), own)
	}
	return e
}
