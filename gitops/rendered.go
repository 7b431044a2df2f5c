package gitops

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Renderer makes the manifests that an environment's files come to.
type Renderer interface {
	// Render renders before and after a change and tells what differs; nil where
	// there is nothing that a tool would render. That it cannot is no error.
	Render(ctx context.Context, r Rendering) (*Rendered, error)
}

// Rendering is what is to be rendered.
type Rendering struct {
	Before, After Files
	// Edited are the files that differ.
	Edited []string
	// Dir is the folder of the kustomization or chart, and Values are the files
	// of Helm values, the strongest last; nil for those that go by the
	// environment's name.
	Dir    string
	Values []string
	// Lenient leaves out of Values what is not there.
	Lenient bool
	// Environment is its name, Release and Namespace what charts are told that
	// they are released as.
	Environment, Release, Namespace string
}

// Rendered is what a change makes of the manifests.
type Rendered struct {
	Tool string `json:"tool" jsonschema:"kustomize or helm"`
	// OK tells that both sides could be rendered, Error why not.
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	// Broken tells that it could be rendered before the change, and not after.
	Broken bool `json:"broken,omitempty"`
	// The resources that differ, as Kind/name.
	Changed []string `json:"changed,omitempty"`
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
	// Unstable are those that come out otherwise each time.
	Unstable []string `json:"unstable,omitempty"`
	// Diff is the unified diff by resource, with the values of Secrets masked;
	// Omitted is how many bytes of it are left out.
	Diff    string `json:"diff,omitempty"`
	Omitted int    `json:"omitted,omitempty"`
	// Note is what has to be known besides.
	Note string `json:"note,omitempty"`
}

// Bounds of what is shown of a rendering.
const (
	maxResources   = 40       // that are named, of each list
	maxPulledDiff  = 24 << 10 // bytes in a pull request
	maxJudgedNames = 200
)

// notes are what people should know of it.
func (r *Rendered) notes() (out []string) {
	switch {
	case r == nil:
		return nil
	case !r.OK:
		out = append(out, "the manifests could not be rendered: "+r.Error)
	case len(r.Changed)+len(r.Added)+len(r.Removed) == 0:
		out = append(out, "nothing that "+r.Tool+" renders changes by it")
	}
	if len(r.Unstable) > 0 {
		out = append(out, "these come out otherwise each time, and are not compared: "+strings.Join(r.Unstable[:min(len(r.Unstable), 10)], ", "))
	}
	if r.Note != "" {
		out = append(out, r.Note)
	}
	return out
}

// judged is what policy sees of it.
func (r *Rendered) judged() map[string]any {
	names := func(l []string) []string { return append([]string{}, l[:min(len(l), maxJudgedNames)]...) }
	return map[string]any{"ok": r.OK, "error": r.Error, "tool": r.Tool, "changed": names(r.Changed), "added": names(r.Added), "removed": names(r.Removed)}
}

// body is what a pull request says of it.
func (r *Rendered) body() string {
	if r == nil {
		return ""
	}
	var b strings.Builder
	for _, n := range r.notes() {
		fmt.Fprintf(&b, "%s.\n\n", quoted(strings.ToUpper(n[:1])+n[1:]))
	}
	if r.Diff == "" {
		return b.String()
	}
	fence := strings.Repeat("`", longestRun(r.Diff, '`')+3)
	diff, left := cutLines(r.Diff, maxPulledDiff)
	fmt.Fprintf(&b, "<details><summary>What %s renders: %s</summary>\n\n%sdiff\n%s%s\n", r.Tool, r.count(), fence, diff, fence)
	if left += r.Omitted; left > 0 {
		fmt.Fprintf(&b, "\n%d bytes of it are left out.\n", left)
	}
	b.WriteString("\n</details>\n\n")
	return b.String()
}

// quoted is a text that others may have written, with nothing in it that
// Markdown would make something of.
func quoted(s string) string {
	return strings.NewReplacer("<", "&lt;", "@", "@\u200b", "`", "'").Replace(line(s, 500))
}

// count says how much differs.
func (r *Rendered) count() string {
	var out []string
	for _, p := range []struct {
		n    int
		word string
	}{{len(r.Changed), "changed"}, {len(r.Added), "added"}, {len(r.Removed), "removed"}} {
		if p.n > 0 {
			out = append(out, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	return strings.Join(out, ", ")
}

// shown is the rendering as an answer has it.
func (r *Rendered) shown() *Rendered {
	if r == nil {
		return nil
	}
	out, left := *r, 0
	for _, l := range []*[]string{&out.Changed, &out.Added, &out.Removed, &out.Unstable} {
		*l = slices.Clone((*l)[:min(len(*l), maxResources)])
	}
	out.Diff, left = cutLines(r.Diff, maxDiff)
	out.Omitted += left
	return &out
}

// Summary is a rendering without its diff; nil of nil.
func (r *Rendered) Summary() *Rendered {
	if r == nil {
		return nil
	}
	out := *r
	out.Omitted, out.Diff = out.Omitted+len(out.Diff), ""
	return &out
}

// cutLines is the beginning of a text, to the end of a line, and how much is
// left out.
func cutLines(s string, most int) (string, int) {
	if len(s) <= most {
		return s, 0
	}
	at := strings.LastIndexByte(s[:most], '\n') + 1
	return s[:at], len(s) - at
}

func longestRun(s string, c byte) (most int) {
	n := 0
	for i := range len(s) {
		if n++; s[i] != c {
			n = 0
		}
		most = max(most, n)
	}
	return most
}

// Render says what a change is rendered as, in ProposeFilesInput. The rest of
// Rendering follows from the change.
type Render struct {
	Dir                string
	Values             []string
	Release, Namespace string
	// Lenient leaves out of Values what is not there.
	Lenient bool
	// Away says why nothing can be rendered here, "" where that may be.
	Away string
	// Note is added to what is rendered, where something is.
	Note string
}

// render renders a plan, unless that was done on the same commit already. An
// edit that breaks rendering is refused.
func (s *Service) render(ctx context.Context, in *ProposeFilesInput, p *planned) error {
	key := p.commit + " " + p.hash
	if in.Render == nil || s.cfg.Renderer == nil || len(p.files) == 0 {
		return nil
	}
	if in.renderedAt != key {
		got, err := s.rendering(ctx, in.Render, Rendering{Before: p.repo, After: newOverlay(p.repo, p.files), Edited: p.paths, Environment: in.Environment})
		if err != nil {
			return err
		}
		if got != nil {
			got.Error, got.Diff, got.Note = line(access.Redact(got.Error), 500), access.Redact(got.Diff), in.Render.Note
		}
		in.rendered, in.renderedAt = got, key
	}
	p.rendered = in.rendered
	if p.rendered != nil && p.rendered.Broken {
		return fault.New(fault.FailedPrecondition, "%s renders %s now, and after the change it does not: %s", p.rendered.Tool, orRoot(in.Render.Dir), p.rendered.Error).
			WithFix("Correct the change: what cannot be rendered cannot be deployed.")
	}
	return nil
}

// rendering has a change rendered, where that can be done here.
func (s *Service) rendering(ctx context.Context, how *Render, r Rendering) (*Rendered, error) {
	if how.Away != "" {
		return &Rendered{Tool: "helm", Error: how.Away}, nil
	}
	r.Dir, r.Values, r.Lenient, r.Release, r.Namespace = how.Dir, how.Values, how.Lenient, how.Release, how.Namespace
	return s.cfg.Renderer.Render(ctx, r)
}

// overlay are files with some of them changed.
type overlay struct {
	Files
	files map[string]File
}

func newOverlay(base Files, files []File) *overlay {
	o := &overlay{base, map[string]File{}}
	for _, f := range files {
		o.files[f.Path] = f
	}
	return o
}

// Read is that of Files.
func (o *overlay) Read(ctx context.Context, path string) ([]byte, error) {
	f, ok := o.files[path]
	switch {
	case !ok:
		return o.Files.Read(ctx, path)
	case f.Delete:
		return nil, fmt.Errorf("%s: %w", path, ErrNoFile)
	}
	return f.Data, nil
}

// List is that of Files.
func (o *overlay) List(ctx context.Context, dir string) ([]string, error) {
	names, err := o.Files.List(ctx, dir)
	if err != nil {
		return nil, err
	}
	names = slices.Clone(names)
	for at, f := range o.files {
		name, in := belowDir(dir, at)
		if !in || strings.Contains(name, "/") {
			continue
		}
		names = slices.DeleteFunc(names, func(n string) bool { return n == name })
		if !f.Delete {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Below is that of Files; what is changed has no ID.
func (o *overlay) Below(ctx context.Context, dir string) ([]Entry, error) {
	all, err := o.Files.Below(ctx, dir)
	if err != nil {
		return nil, err
	}
	all = slices.Clone(all)
	for at, f := range o.files {
		if _, in := belowDir(dir, at); !in {
			continue
		}
		all = slices.DeleteFunc(all, func(e Entry) bool { return e.Path == at })
		if !f.Delete {
			all = append(all, Entry{Path: at, Executable: f.Executable})
		}
	}
	slices.SortFunc(all, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// belowDir is a path relative to a folder that it is below, "" for the root.
func belowDir(dir, at string) (string, bool) {
	return strings.CutPrefix("/"+at, strings.TrimSuffix("/"+dir, "/")+"/")
}
