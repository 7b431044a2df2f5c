package knowledge

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/knowledge/code"
)

// The bounds of one step of reading code.
const (
	codeAtOnce   = 500     // files that are fetched and kept together
	codeTextStep = 8 << 20 // bytes of text after which they are kept
	// largestFile is what a file that is fetched may have at most; sources
	// refuse larger ones unless they are configured otherwise.
	largestFile = 1 << 20
)

var _ ingest.Follower = (*Code)(nil)

// Code is the code of the catalog's sources. It is an ingest.Follower of its
// own, so that documents do not wait for it. What it holds in memory is a few
// hundred bytes for each source; files and their texts are in the index.
type Code struct {
	cfg    CodeConfig
	index  CodeIndex
	keeper CodeKeeper
	log    *slog.Logger
	used   atomic.Int64 // bytes of all sources

	mu      sync.RWMutex // guards what follows
	sources map[string]*codeShelf
	names   map[int64]string
}

// codeShelf is what is known of the code of one source. It is never changed.
type codeShelf struct {
	number int64
	key    string // of its repository
	state  CodeState
}

// NewCode makes a Code without files; Restore brings back those of before. A
// nil logger is slog.Default.
func NewCode(cfg CodeConfig, index CodeIndex, keeper CodeKeeper, log *slog.Logger) *Code {
	if log == nil {
		log = slog.Default()
	}
	return &Code{cfg: cfg.withDefaults(), index: index, keeper: keeper, log: log, sources: map[string]*codeShelf{}, names: map[int64]string{}}
}

// Restore brings back what was kept. Call it before anything is followed.
func (c *Code) Restore(ctx context.Context) error {
	return c.keeper.Sources(ctx, func(source string, number int64, s CodeState) {
		if s.Format != CodeFormat {
			s.Revision = ""
		}
		c.put(source, number, s)
	})
}

// put notes a source's state.
func (c *Code) put(source string, number int64, s CodeState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.sources[source]; old != nil {
		c.used.Add(-old.state.Bytes)
		delete(c.names, old.number)
	}
	c.used.Add(s.Bytes)
	c.sources[source] = &codeShelf{number, entity.RepositoryKey(s.URL), s}
	c.names[number] = source
}

func (c *Code) shelf(source string) *codeShelf {
	if c == nil {
		return nil
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.sources[source]
}

// Followed is the revision of a source that was read last.
func (c *Code) Followed(source ingest.Description) ingest.Revision {
	if s := c.shelf(source.Name); s != nil && s.state.Settings == c.cfg.settings(source) {
		return s.state.Revision
	}
	return ""
}

// Files is how many files are searched, Bytes how many bytes they have.
func (c *Code) Files() (files int, bytes int64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, s := range c.sources {
		files, bytes = files+s.state.Files, bytes+s.state.Bytes
	}
	return files, bytes
}

// Drop forgets a source that is gone.
func (c *Code) Drop(ctx context.Context, source string) error {
	c.mu.Lock()
	if s := c.sources[source]; s != nil {
		c.used.Add(-s.state.Bytes)
		delete(c.names, s.number)
		delete(c.sources, source)
	}
	c.mu.Unlock()
	return c.keeper.Drop(ctx, source)
}

// Follow reads the code of a revision that changed. Files that are gone are
// taken out first and new ones are added in steps, so that whatever is found is
// of the commit that is named; reading that is cut short goes on where it was.
func (c *Code) Follow(ctx context.Context, v ingest.View) error {
	r := codeReading{Code: c, v: v, have: map[string]CodeFile{}}
	r.state = CodeState{Format: CodeFormat, Settings: c.cfg.settings(v.Source), Info: v.Info, URL: v.Source.Repository, Off: !c.cfg.wants(v.Source.Name)}
	old := c.shelf(v.Source.Name)
	if old != nil {
		files, err := c.keeper.Files(ctx, old.number)
		if err != nil {
			return err
		}
		again := old.state.Format != CodeFormat || old.state.Settings != r.state.Settings
		r.sort(files, again)
		r.others = old.state.Bytes
	}
	r.others = c.used.Load() - r.others
	r.plan()
	if len(r.gone) > 0 {
		if err := r.keep(ctx); err != nil {
			return err
		}
	}
	if err := r.read(ctx); err != nil {
		return err
	}
	r.state.Revision = v.Revision
	if r.state.Missing > 0 {
		c.log.WarnContext(ctx, "a source has more code than is searched", "source", v.Source.Name, "searched", r.state.Files, "left out", r.state.Missing)
	}
	return r.keep(ctx)
}

// codeReading is one revision's code being read.
type codeReading struct {
	*Code
	v      ingest.View
	state  CodeState
	have   map[string]CodeFile // that stay as they are
	gone   []int64
	todo   []codePath
	add    []CodeEntry
	text   int   // bytes in add
	others int64 // bytes of other sources
	spent  int64 // bytes read of this one, searched or not
}

// codePath is a file that is wanted.
type codePath struct {
	at, language string
	tier         code.Tier
}

// sort parts the files that are there into those that stay and those that go.
func (r *codeReading) sort(files []CodeFile, again bool) {
	for _, f := range files {
		if again || r.state.Off || r.v.Files[f.Path] != f.Content {
			r.gone = append(r.gone, f.ID)
			continue
		}
		r.have[f.Path] = f
		r.count(f)
	}
}

// count counts a file that is there.
func (r *codeReading) count(f CodeFile) {
	if code.Tier(f.ID>>codeTierShift) != code.None {
		r.state.Files++
		r.state.Bytes += f.Size
	}
}

// plan lists what is to be read: programs first, and those nearer to the root.
func (r *codeReading) plan() {
	if r.state.Off {
		return
	}
	for at := range r.v.Files {
		tier, language, wanted := code.Kind(at)
		if wanted && access.Redact(at) == at {
			r.todo = append(r.todo, codePath{at, language, tier})
		}
	}
	slices.SortFunc(r.todo, func(a, b codePath) int {
		return cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(strings.Count(a.at, "/"), strings.Count(b.at, "/")), cmp.Compare(a.at, b.at))
	})
}

// left is how many bytes may still be read.
func (r *codeReading) left() int64 {
	return min(r.cfg.MaxRepositoryBytes-r.spent, r.cfg.MaxBytes-r.others-r.spent)
}

// read reads what is planned, as far as there is room. Files that were kept
// and have no room any more are taken out.
func (r *codeReading) read(ctx context.Context) error {
	todo := r.todo
	for len(todo) > 0 && r.left() > 0 {
		// What is asked for in one go has room, however large it turns out.
		n := min(codeAtOnce, len(todo), int(max(r.left()/largestFile, 1)))
		if err := r.some(ctx, todo[:n]); err != nil {
			return err
		}
		todo = todo[n:]
	}
	for _, p := range todo {
		r.state.Missing++
		if f, ok := r.have[p.at]; ok {
			r.gone = append(r.gone, f.ID)
			if code.Tier(f.ID>>codeTierShift) != code.None {
				r.state.Files--
				r.state.Bytes -= f.Size
			}
		}
	}
	return nil
}

// some reads a few files.
func (r *codeReading) some(ctx context.Context, paths []codePath) error {
	var fetch []string
	for _, p := range paths {
		if _, ok := r.have[p.at]; !ok {
			fetch = append(fetch, p.at)
		}
	}
	if err := ingest.Fetch(ctx, r.v.Tree, fetch); err != nil {
		return err
	}
	for _, p := range paths {
		if f, ok := r.have[p.at]; ok {
			r.spent += f.Size
			continue
		}
		if err := r.one(ctx, p); err != nil {
			return err
		}
		if len(r.add) >= codeAtOnce || r.text >= codeTextStep {
			if err := r.keep(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// one reads a file.
func (r *codeReading) one(ctx context.Context, p codePath) error {
	e := CodeEntry{CodeFile: CodeFile{Path: p.at, Content: r.v.Files[p.at], Language: p.language}, Tier: code.None}
	data, err := r.v.Tree.Read(ctx, p.at)
	switch {
	case errors.Is(err, ingest.ErrNotFound):
		return nil
	case errors.Is(err, ingest.ErrTooLarge):
	case err != nil:
		return err
	default:
		e.Size = int64(len(data))
		r.spent += e.Size
		if e.Size <= r.cfg.MaxFileBytes {
			if text, ok := code.Read(p.language, data); ok {
				e.Tier, e.Text = p.tier, text
				r.state.Files++
				r.state.Bytes += e.Size
			}
		}
	}
	r.add = append(r.add, e)
	r.text += len(e.Text)
	return nil
}

// keep keeps what was read so far.
func (r *codeReading) keep(ctx context.Context) error {
	number, err := r.keeper.Change(ctx, CodeChange{Source: r.v.Source.Name, State: r.state, Gone: r.gone, Add: r.add})
	if err != nil {
		return err
	}
	r.gone, r.add, r.text = nil, nil, 0
	r.put(r.v.Source.Name, number, r.state)
	return nil
}

// codeNamed is a source with its name.
type codeNamed struct {
	name string
	*codeShelf
}

// all are the sources that are known.
func (c *Code) all() []codeNamed {
	c.mu.RLock()
	defer c.mu.RUnlock()
	out := make([]codeNamed, 0, len(c.sources))
	for name, s := range c.sources {
		out = append(out, codeNamed{name, s})
	}
	return out
}

// name is the name of a source by its number, "" where it is gone.
func (c *Code) name(number int64) string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.names[number]
}
