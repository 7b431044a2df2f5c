package check

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// local is the path that a location names in the folder; ok is false where it
// leads elsewhere. Which branch a URL of the repository names makes no
// difference: what is checked is what will be there.
func (f *folder) local(at descriptor.Location) (name string, ok bool) {
	if at.Type != descriptor.TypeURL {
		return "", false
	}
	u, err := url.Parse(at.Target)
	if err != nil {
		return "", false
	}
	web, err := url.Parse(f.web)
	if err != nil || !strings.EqualFold(u.Host, web.Host) || u.Scheme != web.Scheme {
		return "", false
	}
	rest, ok := cutFold(u.Path, web.Path+"/")
	if !ok {
		return "", false
	}
	parts := strings.SplitN(strings.TrimPrefix(rest, "-/"), "/", 3)
	if len(parts) < 3 || !slices.Contains([]string{"blob", "tree", "raw", "edit"}, parts[0]) {
		return "", false
	}
	name = path.Clean(parts[2])
	if !fs.ValidPath(name) {
		return "", false
	}
	if strings.HasSuffix(parts[2], "/") {
		name += "/"
	}
	return name, true
}

// cutFold takes off a prefix in whatever case, as forges do with names of
// repositories.
func cutFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// targets gives the files that a target of a Location names.
func (f *folder) targets(ctx context.Context, t descriptor.Target) ([]string, *entity.Problem) {
	name, ok := f.local(t.Location)
	if !ok {
		return nil, &entity.Problem{Severity: entity.SeverityWarning, Name: "NotFoundError",
			Message: fmt.Sprintf("target %q %s", t.Written, notLooked),
			Fix:     "Check that repository on its own; the server reads it if it is configured as a source."}
	}
	if t.Glob {
		return f.glob(ctx, name, t)
	}
	switch k := f.kind(name); {
	case k == regular:
		return []string{name}, nil
	case t.Optional:
		return nil, nil
	case k != missing:
		return nil, &entity.Problem{Name: "NotFoundError", Message: fmt.Sprintf("target %q is a folder, not a file", t.Written),
			Fix: "Name the files in it, each as a target of its own."}
	default:
		return nil, &entity.Problem{Name: "NotFoundError", Message: fmt.Sprintf("target %q is not there", t.Written),
			Fix: "Correct the path, add the file, or set spec.presence to optional."}
	}
}

// glob gives the files that a pattern matches, by a server's rules.
func (f *folder) glob(ctx context.Context, pattern string, t descriptor.Target) ([]string, *entity.Problem) {
	if err := f.list(ctx); err != nil {
		return nil, &entity.Problem{Name: "InputError", Message: fmt.Sprintf("target %q cannot be searched: %v", t.Written, err),
			Fix: "Let yourself read the folder, or name the files one by one."}
	}
	g, err := descriptor.ParseGlob(pattern)
	if err != nil {
		return nil, &entity.Problem{Name: "InputError", Message: fmt.Sprintf("target %q is no pattern that can be used: %v", t.Written, err),
			Fix: "Use a shorter pattern."}
	}
	var out []string
	for _, name := range f.files {
		if g.Match(name) {
			out = append(out, name)
		}
	}
	if len(out) == 0 && !t.Optional {
		return nil, &entity.Problem{Name: "NotFoundError", Message: fmt.Sprintf("target %q matches no file", t.Written),
			Fix: "Correct the pattern, or set spec.presence to optional."}
	}
	return out, nil
}

// list lists the folder's files, once.
func (f *folder) list(ctx context.Context) error {
	if f.files != nil {
		return nil
	}
	files := []string{}
	if err := f.walk(ctx, ".", func(name string) { files = append(files, name) }); err != nil {
		return err
	}
	f.files = files
	return nil
}

// matching gives the files that a pattern matches, or the one that it names.
func (f *folder) matching(ctx context.Context, pattern string) []string {
	if !strings.ContainsAny(pattern, "*?[{") {
		if f.kind(pattern) != regular {
			return nil
		}
		return []string{pattern}
	}
	if f.list(ctx) != nil || !doublestar.ValidatePattern(pattern) {
		return nil
	}
	var out []string
	for _, name := range f.files {
		if doublestar.MatchUnvalidated(pattern, name) {
			out = append(out, name)
		}
	}
	return out
}
