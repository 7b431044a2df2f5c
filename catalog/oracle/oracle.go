// Package oracle says what Fairlead makes of a folder of catalog files, in the
// format (number 1) in which Backstage's own packages say it, so that the two
// can be compared.
package oracle

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// DefaultBase is the URL below which files count as being, where Options says
// nothing else.
const DefaultBase = "https://github.com/acme/catalog/blob/main/"

// maxFile is the size in bytes beyond which a file is not read.
const maxFile = 64 << 20

// Options say what to read and as what.
type Options struct {
	// Dir is the folder to read.
	Dir string
	// Type is "url", as if the files were at Base, or "file"; "" is "url".
	Type string
	// Base is the URL that stands for Dir; "" is DefaultBase.
	Base string
	// Rules are the kinds let in: "all", "default" (Component, API and
	// Location) or kinds with commas between them; "" is "all".
	Rules string
}

// Run writes one JSON document: every catalog file and each of its documents,
// then the whole catalog once nothing changes any more, every file having been
// registered on its own. In Type "file" the folder is written {ROOT}.
func Run(ctx context.Context, o Options, w io.Writer) error {
	s, err := newSuite(o)
	if err != nil {
		return err
	}
	defer s.root.Close()
	names, err := s.walk(".")
	if err != nil {
		return err
	}
	doc := &document{Format: 1, Oracle: about{Backend: "fairlead", Type: s.base.Type, Rules: s.rules}}
	for _, name := range names {
		f, err := s.report(ctx, name)
		if err != nil {
			return err
		}
		doc.Files = append(doc.Files, f)
	}
	if doc.Final, err = s.settle(ctx, names); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(doc); err != nil {
		return fault.New(fault.Internal, "the result could not be written").Because(err)
	}
	return out.Flush()
}

// suite is one folder and the way it is read.
type suite struct {
	dir  string
	root *os.Root
	// web is the URL that stands for the folder, base that or the folder.
	web   descriptor.Location
	base  descriptor.Location
	rules string
	proc  *descriptor.Processor
	// canonical are the names of generated Locations as they would be if the
	// folder were {ROOT}, by their real names.
	canonical map[string]string
}

func newSuite(o Options) (*suite, error) {
	dir, err := filepath.Abs(cmp.Or(o.Dir, "."))
	if err != nil {
		return nil, fault.New(fault.Invalid, "folder %q: %v", o.Dir, err)
	}
	s := &suite{dir: filepath.ToSlash(dir), rules: cmp.Or(o.Rules, "all"), canonical: map[string]string{}}
	s.web = descriptor.Location{Type: descriptor.TypeURL, Target: strings.TrimSuffix(cmp.Or(o.Base, DefaultBase), "/") + "/"}
	switch cmp.Or(o.Type, descriptor.TypeURL) {
	case descriptor.TypeURL:
		s.base = s.web
	case descriptor.TypeFile:
		s.base = descriptor.Location{Type: descriptor.TypeFile, Target: s.dir}
	default:
		return nil, fault.New(fault.Invalid, "type %q is neither url nor file", o.Type).WithFix("Use --type url or --type file.")
	}
	if s.root, err = os.OpenRoot(dir); err != nil {
		return nil, fault.New(fault.NotFound, "folder %q cannot be opened", o.Dir).WithFix("Name a folder that you can read.").Because(err)
	}
	s.proc = descriptor.New(descriptor.Options{Allow: allowed(s.rules)})
	return s, nil
}

func allowed(rules string) []string {
	switch rules {
	case "all":
		return []string{"Component", "API", "System", "Domain", "Resource", "Group", "User", "Location", "Template"}
	case "default":
		return []string{"Component", "API", "Location"}
	default:
		return strings.Split(rules, ",")
	}
}

// walk lists the catalog files below a folder, in order.
func (s *suite) walk(dir string) ([]string, error) {
	entries, err := fs.ReadDir(s.root.FS(), dir)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "folder %q cannot be listed", dir).Because(err)
	}
	var out []string
	for _, e := range entries {
		name := e.Name()
		rel := strings.TrimPrefix(dir+"/"+name, "./")
		switch {
		case strings.HasPrefix(name, ".") || name == "node_modules":
		case e.IsDir():
			below, err := s.walk(rel)
			if err != nil {
				return nil, err
			}
			out = append(out, below...)
		case strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml"):
			out = append(out, rel)
		}
	}
	return out, nil
}

// readFile reads a file below the folder, never one elsewhere.
func (s *suite) readFile(name string) ([]byte, error) {
	f, err := s.root.Open(filepath.FromSlash(cmp.Or(name, ".")))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, descriptor.ErrNotFound)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err == nil && info.IsDir():
		return nil, errNoFile
	case err != nil || strings.HasSuffix(name, "/") || !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: %w", name, descriptor.ErrNotFound)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s is larger than %d MiB", name, maxFile>>20)
	}
	return io.ReadAll(io.LimitReader(f, maxFile))
}

// Read gives the bytes at a URL.
func (s *suite) Read(ctx context.Context, at descriptor.Location) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	name, err := s.local(at.Target)
	if err != nil {
		return nil, err
	}
	data, err := s.readFile(name)
	if errors.Is(err, errNoFile) {
		return nil, fmt.Errorf("%s: %w", at.Target, descriptor.ErrNotFound)
	}
	return data, err
}

// local is the path that a URL names. The real catalog would ask the network;
// here, as in the program that the output is compared with, URLs are compared
// as texts, but for the word that tells the kind of page.
func (s *suite) local(target string) (string, error) {
	rest, ok := strings.CutPrefix(asBlob(target), asBlob(s.web.Target))
	if !ok {
		return "", fmt.Errorf("%s is outside of %s: %w", target, s.web.Target, descriptor.ErrNotFound)
	}
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i]
	}
	name, err := url.PathUnescape(rest)
	if err != nil || !utf8.ValidString(name) {
		return "", fmt.Errorf("%s has malformed percent-encoding", target)
	}
	clean := path.Clean(name)
	if strings.HasSuffix(name, "/") {
		clean += "/"
	}
	return strings.TrimPrefix(clean, "/"), nil
}

// asBlob writes blob in the place of tree, edit or raw after the repository.
func asBlob(target string) string {
	scheme, rest, ok := strings.Cut(target, "://")
	if !ok || scheme != "http" && scheme != "https" {
		return target
	}
	parts := strings.SplitAfter(rest, "/")
	if len(parts) < 2 || parts[0] == "/" {
		return target
	}
	for i := 2; i < len(parts); i++ {
		switch parts[i] {
		case "blob/", "tree/", "edit/", "raw/":
			// There must be something between host and word.
			if i > 2 || parts[1] != "/" {
				parts[i] = "blob/"
				return scheme + "://" + strings.Join(parts, "")
			}
		}
	}
	return target
}

// matching lists what a pattern of files names, files and folders alike.
func (s *suite) matching(ctx context.Context, pattern string) ([]string, error) {
	glob, err := descriptor.ParseGlob(pattern)
	if err != nil {
		return nil, err
	}
	var out []string
	err = fs.WalkDir(s.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return ctx.Err()
		}
		full := name
		if e.IsDir() {
			full += "/"
		}
		if glob.Match(full) {
			out = append(out, name)
		}
		return ctx.Err()
	})
	slices.Sort(out)
	return out, err
}
