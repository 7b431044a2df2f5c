package oracle

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// The JSON document.
type (
	document struct {
		Format int          `json:"format"`
		Oracle about        `json:"oracle"`
		Files  []fileReport `json:"files"`
		Final  *final       `json:"final"`
	}
	about struct {
		Backend string `json:"backend"`
		Type    string `json:"type"`
		Rules   string `json:"rules"`
	}
	fileReport struct {
		File      string           `json:"file"`
		Target    string           `json:"target"`
		Location  locationReport   `json:"location"`
		Documents []documentReport `json:"documents"`
	}
	locationReport struct {
		OK          bool       `json:"ok"`
		Errors      []failure  `json:"errors"`
		Emitted     []deferred `json:"emitted"`
		RefreshKeys []string   `json:"refreshKeys"`
	}
	documentReport struct {
		Index       int              `json:"index"`
		OK          bool             `json:"ok"`
		Stage       descriptor.Stage `json:"stage"`
		Errors      []failure        `json:"errors"`
		Ref         string           `json:"ref,omitempty"`
		LocationKey string           `json:"locationKey,omitempty"`
		Entity      *entity.Object   `json:"entity,omitempty"`
		Relations   *[]edge          `json:"relations,omitempty"`
		Deferred    *[]deferred      `json:"deferred,omitempty"`
		RefreshKeys *[]string        `json:"refreshKeys,omitempty"`
	}
	failure struct {
		Name    string `json:"name"`
		Message string `json:"message"`
	}
	deferred struct {
		Ref         string `json:"ref"`
		LocationKey string `json:"locationKey"`
	}
	edge struct {
		Source string `json:"source"`
		Type   string `json:"type"`
		Target string `json:"target"`
	}
	final struct {
		Entities    map[string]*stitched   `json:"entities"`
		Unprocessed map[string]unprocessed `json:"unprocessed"`
		Conflicts   []conflict             `json:"conflicts"`
	}
	stitched struct {
		Entity      *entity.Entity `json:"entity"`
		Search      [][3]*string   `json:"search,omitempty"`
		StitchError *failure       `json:"stitchError,omitempty"`
	}
	unprocessed struct {
		Errors []failure `json:"errors"`
	}
	conflict struct {
		Ref     string `json:"ref"`
		Kept    string `json:"kept"`
		Ignored string `json:"ignored"`
	}
)

// report says what becomes of one file and of each of its documents.
func (s *suite) report(ctx context.Context, name string) (fileReport, error) {
	it, err := s.register(name)
	if err != nil {
		return fileReport{}, err
	}
	out := s.process(ctx, it)
	r := fileReport{File: name, Target: s.scrub(it.origin.Target), Documents: []documentReport{}}
	r.Location = locationReport{OK: out.ok, Errors: s.errors(out.problems), Emitted: s.deferred(out.deferred), RefreshKeys: s.keys(out.refresh)}
	data, err := s.readFile(name)
	if err != nil {
		return r, ctx.Err()
	}
	f := s.proc.Read(s.proc.Resolve(it.origin, s.base.Type, it.origin.Target), data)
	for _, d := range f.Documents {
		r.Documents = append(r.Documents, s.document(ctx, it, f, d))
	}
	return r, ctx.Err()
}

func (s *suite) document(ctx context.Context, parent *item, f *descriptor.File, d *descriptor.Document) documentReport {
	r := documentReport{Index: d.Index, Stage: d.Stage}
	if d.Stage != descriptor.StageProcess {
		r.Errors = s.errors(d.Problems)
		return r
	}
	if d.Ref == parent.doc.Ref {
		r.Stage, r.Errors = descriptor.StageEnvelope, []failure{}
		return r
	}
	out := s.process(ctx, &item{file: f, doc: d, origin: parent.origin})
	r.OK, r.Errors = out.ok, s.errors(out.problems)
	r.Ref, r.LocationKey = s.rename(d.Ref.String()), s.scrub(f.At.String())
	if out.threw {
		return r
	}
	relations, emitted, keys := s.edges(out.edges), s.deferred(out.deferred), s.keys(out.refresh)
	r.Entity, r.Relations, r.Deferred, r.RefreshKeys = s.scrubObject(out.entity), &relations, &emitted, &keys
	return r
}

func (s *suite) errors(problems []entity.Problem) []failure {
	out := make([]failure, 0, len(problems))
	for _, p := range problems {
		text := p.Message
		if p.Line > 0 {
			text = strings.TrimPrefix(p.String(), p.File+":")
		}
		out = append(out, failure{Name: cmp.Or(p.Name, "Error"), Message: s.scrub(text)})
	}
	return out
}

func (s *suite) deferred(items []*item) []deferred {
	out := make([]deferred, 0, len(items))
	for _, it := range items {
		out = append(out, deferred{Ref: s.rename(it.ref()), LocationKey: s.scrub(it.key)})
	}
	return out
}

func (s *suite) keys(in []string) []string {
	out := make([]string, 0, len(in))
	for _, k := range in {
		out = append(out, s.scrub(k))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (s *suite) edges(in []entity.Edge) []edge {
	out := make([]edge, 0, len(in))
	for _, e := range in {
		out = append(out, edge{Source: s.rename(e.Source), Type: e.Type, Target: s.rename(e.Target)})
	}
	slices.SortFunc(out, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Target, b.Target))
	})
	return out
}

// scrub writes {ROOT} for the folder.
func (s *suite) scrub(text string) string {
	if s.base.Type != descriptor.TypeFile || !strings.Contains(text, s.dir) {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, s.dir+"/", "{ROOT}/"), s.dir, "{ROOT}")
}

// rename gives a generated Location the name that it has for {ROOT}.
func (s *suite) rename(text string) string {
	i := strings.Index(text, "generated-")
	if i < 0 {
		return text
	}
	if name, ok := s.canonical[text[i:]]; ok {
		return text[:i] + name
	}
	return text
}

func (s *suite) scrubObject(o *entity.Object) *entity.Object {
	if s.base.Type != descriptor.TypeFile {
		return o
	}
	v, _ := s.scrubValue(o).(*entity.Object)
	return v
}

func (s *suite) scrubValue(v entity.Value) entity.Value {
	switch v := v.(type) {
	case string:
		return s.scrub(s.rename(v))
	case entity.List:
		out := make(entity.List, len(v))
		for i := range v {
			out[i].Value = s.scrubValue(v[i].Value)
		}
		return out
	case *entity.Object:
		out := &entity.Object{Members: make([]entity.Member, len(v.Members))}
		for i, m := range v.Members {
			out.Members[i] = entity.Member{Key: s.scrub(m.Key), Value: s.scrubValue(m.Value)}
		}
		return out
	default:
		return v
	}
}
