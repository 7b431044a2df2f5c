package oracle

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

var errNoFile = errors.New("not a file")

// item is an entity that waits to be processed.
type item struct {
	file   *descriptor.File
	doc    *descriptor.Document
	origin descriptor.Location
	key    string
}

func (i *item) ref() string { return i.doc.Ref.String() }

// outcome is what processing an item came to.
type outcome struct {
	ok       bool
	threw    bool
	problems []entity.Problem
	entity   *entity.Object
	edges    []entity.Edge
	deferred []*item
	refresh  []string
}

// register is the item that stands for a file registered on its own.
func (s *suite) register(name string) (*item, error) {
	at, err := s.proc.Registered(s.base, name)
	if err != nil {
		return nil, err
	}
	f, d := s.proc.Registration(at)
	it := &item{file: f, doc: d, origin: at, key: at.String()}
	if s.base.Type == descriptor.TypeFile {
		as := descriptor.Location{Type: at.Type, Target: s.scrub(at.Target)}
		s.canonical[d.Ref.Name] = descriptor.Generated(as).Name
	}
	return it, nil
}

// process processes an item, reading what it points to.
func (s *suite) process(ctx context.Context, it *item) *outcome {
	res := s.proc.Process(ctx, it.file, it.doc, it.origin, s)
	out := &outcome{ok: res.OK, problems: res.Problems, entity: res.Entity, edges: res.Edges, threw: res.Entity == nil}
	if out.threw {
		return out
	}
	for _, at := range res.Read {
		out.refresh = append(out.refresh, at.String())
	}
	for _, t := range res.Targets {
		s.follow(ctx, it, t, out)
	}
	if out.threw {
		return &outcome{threw: true, problems: out.problems}
	}
	return out
}

func (out *outcome) fail(name, format string, args ...any) {
	out.ok = false
	out.problems = append(out.problems, entity.Problem{Severity: entity.SeverityError, Name: name, Message: fmt.Sprintf(format, args...)})
}

// follow reads one target of a Location.
func (s *suite) follow(ctx context.Context, it *item, t descriptor.Target, out *outcome) {
	if t.Location.Type == descriptor.TypeFile {
		s.followFiles(ctx, it, t, out)
		return
	}
	if n := min(len(s.web.Target), len(t.Location.Target)); strings.ContainsAny(t.Location.Target[n:], "*?") {
		out.fail("Error", "%s is a pattern, and there is nothing to search", t.Location.Target)
		return
	}
	data, err := s.Read(ctx, t.Location)
	switch {
	case errors.Is(err, descriptor.ErrNotFound):
		if !t.Optional {
			out.fail("NotFoundError", "%s is not there", t.Location.Target)
		}
		return
	case err != nil:
		out.fail("InputError", "%s cannot be read: %v", t.Location.Target, err)
		return
	}
	if f := s.emit(it, t.Location, data, out); !f.Truncated {
		out.refresh = append(out.refresh, t.Location.String())
	}
}

// followFiles reads every file that a target of type file names.
func (s *suite) followFiles(ctx context.Context, it *item, t descriptor.Target, out *outcome) {
	names := []string{}
	if rel, ok := s.proc.Within(s.base, t.Location); ok && t.Glob {
		found, err := s.matching(ctx, rel)
		if err != nil {
			out.fail("Error", "%s cannot be searched: %v", t.Location.Target, err)
			return
		}
		names = found
	} else if ok {
		names = append(names, rel)
	}
	contents, ok := s.contents(names, out)
	if !ok {
		return
	}
	if len(contents) == 0 && !t.Optional {
		out.fail("NotFoundError", "%s is not there", t.Location.Target)
	}
	for _, c := range contents {
		if f := s.emit(it, c.at, c.data, out); len(f.Documents) > 1 || len(f.Documents) == 1 && !f.Truncated {
			out.refresh = append(out.refresh, c.at.String())
		}
	}
}

type content struct {
	at   descriptor.Location
	data []byte
}

// contents reads files; those that are not there are left out, one that
// cannot be read spoils them all.
func (s *suite) contents(names []string, out *outcome) (found []content, ok bool) {
	for _, name := range names {
		data, err := s.readFile(name)
		at := descriptor.Location{Type: descriptor.TypeFile, Target: path.Join(s.dir, name)}
		switch {
		case errors.Is(err, descriptor.ErrNotFound):
		case err != nil:
			out.fail("Error", "%s cannot be read: %v", at.Target, err)
			return nil, false
		default:
			found = append(found, content{at, data})
		}
	}
	return found, true
}

// emit hands on the documents of a file.
func (s *suite) emit(it *item, at descriptor.Location, data []byte, out *outcome) *descriptor.File {
	f := s.proc.Read(at, data)
	for _, d := range f.Documents {
		if d.Stage != descriptor.StageProcess {
			out.ok = false
			out.problems = append(out.problems, d.Problems...)
			continue
		}
		if d.Ref == it.doc.Ref {
			continue
		}
		out.deferred = append(out.deferred, &item{file: f, doc: d, origin: it.origin, key: at.String()})
	}
	if f.Forbidden() {
		out.threw = true
		out.fail("NotAllowedError", "%s holds a kind that is not allowed", at.Target)
	}
	return f
}
