package knowledge

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/knowledge/code"
)

// The bounds of a search for code.
const (
	defaultCodeHits = 10
	maxCodeHits     = 50
	// excerptsOfFile are shown of a file, excerptsOfOne where one file is
	// asked for.
	excerptsOfFile = 3
	excerptsOfOne  = 20
	// codeTime is after how long a page ends, however much it has.
	codeTime = 3 * time.Second
	// maxCodePage is how large a page gets, in bytes of JSON: with the text
	// beside it that agents read, it is below 8,000 tokens.
	maxCodePage = 14_000
	// fewSources are looked at one by one; of more all are looked through.
	fewSources = 64
)

// SearchCode finds lines of code by a text or a regular expression, in the
// files that the caller may see, at the commits that are served.
func (s *Service) SearchCode(ctx context.Context, who access.Caller, in SearchCodeInput) (*CodeHits, error) {
	if s == nil || s.code == nil || s.code.cfg.Off {
		return nil, fault.New(fault.FailedPrecondition, "this server searches no code").WithFix("Ask the operators to switch it on: knowledge.code in the configuration.")
	}
	c, err := s.codeSearch(ctx, who, in)
	if err != nil {
		return nil, err
	}
	if len(c.sources) == 0 {
		return c.out, nil
	}
	timed, cancel := context.WithTimeout(ctx, codeTime)
	defer cancel()
	q := CodeQuery{Need: c.pattern.Need(), After: c.after}
	if c.narrowed || len(c.sources) <= fewSources {
		q.Sources = c.sources
	}
	err = s.code.index.Scan(timed, q, func(f CodeFile) (bool, error) { return c.visit(timed, f) })
	if err != nil && timed.Err() != nil && ctx.Err() == nil { // the time is up: what was found is a page
		if c.looked == c.after {
			return nil, fault.New(fault.Unavailable, "the search took longer than %s", codeTime).WithFix("Name a repository, a service or a longer text.")
		}
		c.out.NextCursor, err = c.cursor(), nil
	}
	if err != nil {
		return nil, err
	}
	return c.out, nil
}

// codeSearch is a search under way.
type codeSearch struct {
	*reading
	in       SearchCodeInput
	pattern  *code.Pattern
	limit    int
	path     string
	sources  []int64 // that the caller may see something of, sorted
	narrowed bool    // the caller named the sources
	after    int64   // the file that the page before ended with
	from     int     // the line in the file after it that the page begins with
	looked   int64   // the file that was looked at last
	size     int
	folders  map[folder]*folder
	out      *CodeHits
}

// codeSearch checks what is asked for.
func (s *Service) codeSearch(ctx context.Context, who access.Caller, in SearchCodeInput) (*codeSearch, error) {
	c := &codeSearch{reading: s.reading(who), in: in, limit: in.Limit, folders: map[folder]*folder{}, out: &CodeHits{Hits: []CodeHit{}}}
	switch {
	case in.Limit == 0:
		c.limit = defaultCodeHits
	case in.Limit < 0 || in.Limit > maxCodeHits:
		return nil, fault.New(fault.Invalid, "limit is %d, not between 1 and %d", in.Limit, maxCodeHits).WithFix("Give a number in that range, or leave it out for %d.", defaultCodeHits)
	}
	var err error
	if c.pattern, err = code.Parse(in.Query, in.Regexp); err != nil {
		return nil, err
	}
	c.path = strings.TrimPrefix(strings.Trim(in.Path, "/"), "./")
	if !doublestar.ValidatePattern(c.path) {
		return nil, fault.New(fault.Invalid, "path: %.100q is no path and no glob", in.Path).WithFix("Write for example internal/api, or **/*.go.")
	}
	if c.after, c.from, err = codeAfter(in); err != nil {
		return nil, err
	}
	c.looked = c.after
	if err := c.ask(ctx, who, in.Service); err != nil {
		return nil, err
	}
	if err := c.choose(); err != nil {
		return nil, err
	}
	if c.pattern.Need() == "" && !c.narrowed {
		return nil, fault.New(fault.Invalid, "query: %.60q has no three characters in a row that every match has", in.Query).WithFix("Write a longer text, or name a service or a repository.")
	}
	return c, nil
}

// choose picks the sources of which the caller sees something and wants it.
func (c *codeSearch) choose() error {
	c.narrowed = c.in.Service != "" || c.in.Repository != ""
	known := false
	for _, s := range c.code.all() {
		if !c.wanted(s) || !c.All() && !c.shows(s.name) {
			continue
		}
		known = true
		if s.state.Off || s.state.Missing > 0 || s.state.Revision == "" {
			c.out.Unsearched++
		}
		if !s.state.Off {
			c.sources = append(c.sources, s.number)
		}
	}
	slices.Sort(c.sources)
	c.out.Searched = len(c.sources)
	if c.in.Repository != "" && !known {
		return fault.New(fault.NotFound, "there is no repository %.200q", c.in.Repository).WithFix("Give the URL of a repository or the name of a source: list_sources lists them.")
	}
	return nil
}

// wanted tells whether a source is one that is asked for.
func (c *codeSearch) wanted(s codeNamed) bool {
	if want := c.in.Repository; want != "" && want != s.name && (s.key == "" || entity.RepositoryKey(want) != s.key) {
		return false
	}
	return c.ref == "" || s.name == c.source || c.catalog.Inhabited(s.key, func(ref string) bool { return ref == c.ref })
}

// visit looks at a file, and tells whether to go on.
func (c *codeSearch) visit(ctx context.Context, f CodeFile) (bool, error) {
	from := 0
	if c.from > 0 && f.ID == c.after+1 {
		from = c.from
	}
	hit, next, err := c.look(ctx, f, from)
	if err != nil {
		return false, err
	}
	if hit != nil {
		text, err := json.Marshal(hit)
		if err != nil {
			return false, err
		}
		if len(c.out.Hits) == c.limit || len(c.out.Hits) > 0 && c.size+len(text) > maxCodePage {
			c.out.NextCursor = c.cursor()
			return false, nil
		}
		c.size += len(text)
		c.out.Hits = append(c.out.Hits, *hit)
	}
	if next > 0 { // the rest of this very file comes with the next page
		c.looked, c.from = f.ID-1, next
		c.out.NextCursor = c.cursor()
		return false, nil
	}
	c.looked, c.from = f.ID, 0
	return true, nil
}

// look looks for matches in a file from a line on; nil where there are none
// for the caller. next is the line to go on with where this file alone is asked
// for and has more.
func (c *codeSearch) look(ctx context.Context, f CodeFile, from int) (hit *CodeHit, next int, err error) {
	at := c.fileOf(f)
	if at == nil {
		return nil, 0, nil
	}
	text, ok, err := c.code.index.Text(ctx, f.ID)
	if err != nil || !ok {
		return nil, 0, err
	}
	found, err := c.pattern.Find(ctx, text)
	if err != nil || len(found) == 0 {
		return nil, 0, err
	}
	rest := found[sinceLine(found, from):]
	if len(rest) == 0 {
		return nil, 0, nil
	}
	most := excerptsOfFile
	if f.Path == c.path {
		most = excerptsOfOne
	}
	hit = &CodeHit{Source: TextSource{Name: at.Source, Path: f.Path, Line: rest[0].Line}, Language: f.Language, Matches: len(found), Services: c.services(at)}
	var covered int
	hit.Excerpts, covered = code.Excerpts(text, rest, most)
	if f.Path == c.path && covered < len(rest) {
		next = rest[covered].Line
	}
	if s := c.code.shelf(at.Source); s != nil {
		hit.Source.Repo, hit.Source.Commit = s.state.URL, s.state.Info.Commit
	}
	if len(hit.Services) > 0 {
		hit.Owner = c.Entity(hit.Services[0]).Owner()
	}
	return hit, next, nil
}

func sinceLine(found []code.Match, line int) int {
	i := slices.IndexFunc(found, func(m code.Match) bool { return m.Line >= line })
	if i < 0 {
		return len(found)
	}
	return i
}

// fileOf is a file as the room knows documents, nil where the caller may not
// see it or does not want it.
func (c *codeSearch) fileOf(f CodeFile) *Card {
	name := c.code.name(codeSource(f.ID))
	if name == "" || !c.inPath(f.Path) || c.in.Language != "" && !strings.EqualFold(c.in.Language, f.Language) {
		return nil
	}
	if _, ok := slices.BinarySearch(c.sources, codeSource(f.ID)); !ok {
		return nil
	}
	at := &Card{Source: name, Path: f.Path, folder: c.folderOf(name, path.Dir(f.Path))}
	if !c.visible(at) || c.ref != "" && !c.of(at) {
		return nil
	}
	return at
}

// folderOf is one value for each folder.
func (c *codeSearch) folderOf(source, dir string) *folder {
	if dir == "." {
		dir = ""
	}
	key := folder{source, dir}
	if c.folders[key] == nil {
		c.folders[key] = &key
	}
	return c.folders[key]
}

// of tells whether a file is of the service asked about: it lives nearest
// above it, or, in a folder that is no repository, its catalog file does.
func (c *codeSearch) of(at *Card) bool {
	if at.Source == c.source && c.repositoryOf(at.Source) == "" {
		return c.filed == "" || c.filed == "." || strings.HasPrefix(at.Path, c.filed+"/")
	}
	return slices.Contains(c.place(at).refs, c.ref)
}

// inPath tells whether a file is where it is asked for.
func (c *codeSearch) inPath(at string) bool {
	want := c.path
	return want == "" || at == want || strings.HasPrefix(at, want+"/") || doublestar.MatchUnvalidated(want, at)
}

// codeCursor is where a page ended.
type codeCursor struct {
	After int64  `json:"a"`
	Line  int    `json:"l,omitempty"`
	For   string `json:"q"`
}

func codeID(in SearchCodeInput) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%q %v %q %q %q %q", in.Query, in.Regexp, in.Service, in.Repository, in.Path, in.Language)
	return fmt.Sprintf("%x", h.Sum64())
}

func (c *codeSearch) cursor() string {
	text, err := json.Marshal(codeCursor{c.looked, c.from, codeID(c.in)})
	if err != nil {
		return "" // it is a plain struct
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// codeAfter reads a cursor.
func codeAfter(in SearchCodeInput) (after int64, line int, err error) {
	if in.Cursor == "" {
		return 0, 0, nil
	}
	var p codeCursor
	text, err := base64.RawURLEncoding.DecodeString(in.Cursor)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err == nil && (p.After < 0 || p.Line < 0) {
		err = errors.New("out of range")
	}
	switch {
	case err != nil:
		return 0, 0, fault.New(fault.Invalid, "malformed cursor %.60q", in.Cursor).WithFix("Use the cursor of the page before as it was given, or leave it out to start again.")
	case p.For != codeID(in):
		return 0, 0, fault.New(fault.Invalid, "the cursor belongs to another search").WithFix("Repeat everything but limit as it was, or leave the cursor out.")
	default:
		return p.After, p.Line, nil
	}
}
