package knowledge

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Scheme is what handles of documents begin with.
const Scheme = "doc://"

// maxHandle is the longest handle that is read, in bytes.
const maxHandle = 4096

// handle names a document, a section of it, and where in that to go on.
type handle struct {
	card   *Card
	anchor string
	from   int
}

// handleOf writes a handle.
func handleOf(c *Card, anchor string) string {
	h := Scheme + escape(c.Source) + "/" + escape(c.Path)
	if anchor != "" {
		h += "#" + escape(anchor)
	}
	return h
}

// escape writes a name as handles have it: slashes stay.
func escape(s string) string {
	parts := strings.Split(s, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// parse reads a handle of a document that the caller may see.
func (r *reading) parse(text string) (handle, error) {
	rest, ok := strings.CutPrefix(text, Scheme)
	if !ok || len(text) > maxHandle {
		return handle{}, fault.New(fault.Invalid, "handle: %.100q is no handle of a document", text).WithFix("Use the handle of a hit of search_knowledge as it was given: doc://source/path#section.")
	}
	rest, fragment, _ := strings.Cut(rest, "#")
	var h handle
	h.anchor, h.from = splitFrom(fragment)
	rest, err := url.PathUnescape(rest)
	if err == nil {
		h.anchor, err = url.PathUnescape(h.anchor)
	}
	if err != nil {
		return handle{}, fault.New(fault.Invalid, "handle: %.100q is malformed", text).WithFix("Use the handle as it was given.")
	}
	for i := 0; i < len(rest); i++ {
		if rest[i] != '/' {
			continue
		}
		if c := r.library.at(rest[:i], rest[i+1:]); c != nil && r.visible(c) {
			h.card = c
			return h, nil
		}
	}
	return handle{}, fault.New(fault.NotFound, "there is no document %.200s", text).WithFix("Search again: it may have been moved or removed.")
}

// splitFrom takes the place where to go on off a fragment: #section@1234.
func splitFrom(fragment string) (anchor string, from int) {
	i := strings.LastIndexByte(fragment, '@')
	if i < 0 {
		return fragment, 0
	}
	n, err := strconv.Atoi(fragment[i+1:])
	if err != nil || n < 0 {
		return fragment, 0
	}
	return fragment[:i], n
}
