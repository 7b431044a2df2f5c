package backstage

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

const (
	pageSize  = 500
	maxPage   = 16 << 20 // bytes of a page of names and etags
	maxCursor = 8 << 10  // bytes, as a cursor is part of a URL
	maxPart   = 1000     // bytes of a kind, namespace, name or etag
	// slack is how many entities may vanish while pages are turned before
	// their number is taken for a lie.
	slack = 100
)

// listed is one entity as the list has it.
type listed struct{ path, ref, etag string }

// listing is one state of the catalog: its entities by path.
type listing struct {
	rev   ingest.Revision
	items []listed
}

// find is the place of a path.
func (l *listing) find(path string) (int, bool) {
	return slices.BinarySearchFunc(l.items, path, func(e listed, path string) int { return cmp.Compare(e.path, path) })
}

// page is what the API answers to a query.
type page struct {
	Items []struct {
		Kind     string `json:"kind"`
		Metadata struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
			Etag      string `json:"etag"`
		} `json:"metadata"`
	} `json:"items"`
	TotalItems *int `json:"totalItems"`
	PageInfo   *struct {
		NextCursor string `json:"nextCursor"`
	} `json:"pageInfo"`
}

// lister turns the pages of the catalog.
type lister struct {
	src   *Source
	seen  map[string]listed // by path
	other int               // entities that are left out
	total int
	known map[string]bool // the cursors so far
}

// list asks for the name and etag of every entity.
func (s *Source) list(ctx context.Context) (*listing, error) {
	l := &lister{src: s, seen: map[string]listed{}, known: map[string]bool{}}
	query := url.Values{"filter": s.filter}
	for first := true; ; first = false {
		query.Set("fields", "kind,metadata.namespace,metadata.name,metadata.etag")
		query.Set("limit", strconv.Itoa(pageSize))
		p, err := l.ask(ctx, query)
		if err != nil {
			return nil, err
		}
		if first {
			l.total = *p.TotalItems
		}
		next, err := l.add(p)
		if err != nil {
			return nil, err
		}
		if next == "" {
			return l.done()
		}
		query = url.Values{"cursor": {next}}
	}
}

func (l *lister) ask(ctx context.Context, query url.Values) (*page, error) {
	var p page
	err := l.src.client.get(ctx, "/entities/by-query", query, maxPage, func(r *io.LimitedReader) error {
		err := json.NewDecoder(r).Decode(&p)
		if r.N <= 0 {
			return strange("a page of %d names exceeds %d bytes", pageSize, maxPage)
		}
		return damaged(err)
	})
	if err == nil && (p.Items == nil || p.TotalItems == nil || p.PageInfo == nil) {
		err = strange("its list has no items, totalItems or pageInfo")
	}
	return &p, err
}

// damaged tells JSON that is none from trouble with the connection.
func damaged(err error) error {
	switch err.(type) { //nolint:errorlint // a decoder returns them unwrapped
	case *json.SyntaxError, *json.UnmarshalTypeError:
		return strange("its JSON is not that of an answer of the catalog")
	}
	return err
}

// add takes a page, and gives the cursor of the next one. Every page but the
// last brings something new, so that their number is bounded.
func (l *lister) add(p *page) (next string, err error) {
	before := len(l.seen) + l.other
	for i := range p.Items {
		m := &p.Items[i].Metadata
		if err := l.take(p.Items[i].Kind, m.Namespace, m.Name, m.Etag); err != nil {
			return "", err
		}
	}
	if len(l.seen)+l.other > l.src.limits.Entities {
		return "", l.src.tooMany()
	}
	next = p.PageInfo.NextCursor
	switch {
	case next == "":
	case len(next) > maxCursor:
		return "", strange("the cursor of its list has more than %d bytes", maxCursor)
	case l.known[next] || len(l.seen)+l.other == before:
		return "", strange("the pages of its list go round in circles")
	}
	l.known[next] = true
	return next, nil
}

func (s *Source) tooMany() error {
	return fault.New(fault.FailedPrecondition, "listing %s: it holds more than %d entities, the limit", s.desc.URL, s.limits.Entities).
		WithFix("Narrow the source by filter, or raise limits.entities.")
}

func (l *lister) take(kind, namespace, name, etag string) error {
	if namespace == "" {
		namespace = entity.DefaultNamespace
	}
	for _, part := range []string{kind, namespace, name, etag} {
		if part == "" || len(part) > maxPart {
			return strange("an entity of its list has no kind, name or etag of up to %d bytes", maxPart)
		}
	}
	ref := entity.Ref{Kind: kind, Namespace: namespace, Name: name}.Canonical()
	if ref.Kind == "location" {
		l.other++
		return nil
	}
	path := pathOf(ref)
	l.seen[path] = listed{path: path, ref: ref.String(), etag: etag}
	return nil
}

// done makes a listing of the pages. Entities may come and go while pages are
// turned; a list that ends far too early would take them out of the catalog.
func (l *lister) done() (*listing, error) {
	got := len(l.seen) + l.other
	if short := l.total - got; short > slack && short > l.total/10 {
		return nil, strange("its list ends after %d of %d entities", got, l.total)
	}
	out := &listing{items: make([]listed, 0, len(l.seen))}
	for _, e := range l.seen {
		out.items = append(out.items, e)
	}
	slices.SortFunc(out.items, func(a, b listed) int { return cmp.Compare(a.path, b.path) })
	sum := sha256.New()
	for _, e := range out.items {
		sum.Write([]byte(e.path + "\x00" + e.etag + "\x00"))
	}
	out.rev = ingest.Revision(hex.EncodeToString(sum.Sum(nil)))
	return out, nil
}

// pathOf is the path of an entity's file: kind/namespace/name. It is also
// how the API names the entity below entities/by-name.
func pathOf(r entity.Ref) string {
	return escape(r.Kind) + "/" + escape(r.Namespace) + "/" + escape(r.Name)
}

// escape makes a name a part of a path, reversibly: what Backstage allows in
// names stays as it is, any other byte becomes % and two hexadecimal digits,
// and so do the dots of a name that is nothing but one or two.
func escape(name string) string {
	dots := name == "." || name == ".."
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_', c == '.' && !dots:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteString(hex.EncodeToString([]byte{c}))
		}
	}
	return b.String()
}
