package check

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git"
)

const (
	// maxFile is the size in bytes up to which a server reads a catalog file
	// unless it is told otherwise.
	maxFile = 1 << 20
	// maxFiles bounds how many files of a folder are listed.
	maxFiles = 1_000_000
	// notLooked marks what lies outside of what can be read here.
	notLooked = "is outside of this folder, so it was not looked at"
)

// folder is a repository, or a folder in none, with the files to check in it.
type folder struct {
	dir string // absolute
	cwd string
	content
	// base is the URL that stands for the folder, web that of its repository.
	base descriptor.Location
	web  string
	// asked are the paths to check, picked the files that they come to.
	asked  []asked
	picked []string
	// files are all files, listed when first asked for.
	files []string
}

// asked is a path to check: within its folder, and as written.
type asked struct{ rel, written string }

// collect finds the folders to check, each with the paths that belong to it.
func collect(o Options, diff bool) ([]*folder, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, fault.New(fault.Unavailable, "the working folder cannot be told").Because(err)
	}
	byDir := map[string]*folder{}
	var out []*folder
	for _, p := range o.Paths {
		real, dir, err := locate(p, diff)
		if err != nil {
			return out, err
		}
		f := byDir[dir]
		if f == nil {
			if f, err = open(dir, cwd, diff); err != nil {
				return out, err
			}
			byDir[dir] = f
			out = append(out, f)
		}
		rel, err := filepath.Rel(dir, real)
		if err != nil {
			return out, fault.New(fault.Invalid, "%q is not below %s", p, dir).Because(err)
		}
		f.asked = append(f.asked, asked{filepath.ToSlash(rel), p})
	}
	return out, nil
}

func closeAll(folders []*folder) {
	for _, f := range folders {
		_ = f.close() // what is read has been read
	}
}

// locate gives a path free of links, and the folder that it belongs to: its
// repository, else itself. For a comparison there must be a repository, but
// the path may be gone.
func locate(p string, diff bool) (real, dir string, err error) {
	real, info, err := resolve(p)
	switch {
	case err == nil:
	case diff && fault.CodeOf(err) == fault.NotFound:
		var gone error
		if real, gone = resolveGone(p); gone != nil {
			return "", "", err
		}
	default:
		return "", "", err
	}
	dir = real
	if info == nil || !info.IsDir() {
		dir = filepath.Dir(real)
	}
	root, err := git.FindRepository(existing(dir))
	switch {
	case err == nil:
		return real, root, nil
	case diff:
		return "", "", fault.New(fault.NotFound, "%q is in no Git repository, so there is nothing to compare it with", p).
			WithFix("Run this in a clone, or leave out --diff.").Because(err)
	default:
		return real, dir, nil
	}
}

func resolve(p string) (string, fs.FileInfo, error) {
	real, err := filepath.Abs(p)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		return "", nil, fault.New(fault.NotFound, "there is no file or folder %q", p).WithFix("Correct the path.").Because(err)
	}
	info, err := os.Stat(real)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return "", nil, fault.New(fault.NotFound, "%q is neither a file nor a folder that can be read", p).WithFix("Correct the path.").Because(err)
	}
	return real, info, nil
}

// resolveGone resolves as much of a path as is there.
func resolveGone(p string) (string, error) {
	abs, err := filepath.Abs(p)
	if err != nil {
		return "", err
	}
	there := existing(abs)
	real, err := filepath.EvalSymlinks(there)
	if err != nil {
		return "", err
	}
	return filepath.Join(real, strings.TrimPrefix(abs, there)), nil
}

// existing is the nearest folder upwards that is there.
func existing(abs string) string {
	for {
		if info, err := os.Stat(abs); err == nil && info.IsDir() || abs == filepath.Dir(abs) {
			return abs
		}
		abs = filepath.Dir(abs)
	}
}

func open(dir, cwd string, tracked bool) (*folder, error) {
	d, err := openDisk(dir, tracked)
	if err != nil {
		return nil, err
	}
	f := &folder{dir: dir, cwd: cwd, content: d, web: "https://github.com/this/folder"}
	if remotes, err := git.Remotes(dir); err == nil {
		for _, r := range remotes {
			if web := webURL(r); web != "" {
				f.web = web
				break
			}
		}
	}
	f.base = descriptor.Location{Type: descriptor.TypeURL, Target: f.web + blob(f.web) + "HEAD/"}
	return f, nil
}

// at is the same folder and the same paths with other content.
func (f *folder) at(c content) *folder {
	return &folder{dir: f.dir, cwd: f.cwd, content: c, base: f.base, web: f.web, asked: f.asked}
}

// blob is what a forge puts between a repository and a ref.
func blob(web string) string {
	if strings.HasPrefix(web, "https://gitlab.com/") {
		return "/-/blob/"
	}
	return "/blob/"
}

// webURL is the page of a repository on a forge that is known, "" for others.
func webURL(remote string) string {
	host, name := "", ""
	if u, err := url.Parse(remote); err == nil && u.Host != "" {
		host, name = u.Hostname(), u.Path
	} else if at, rest, ok := strings.Cut(remote, ":"); ok {
		host, name = at[strings.LastIndexByte(at, '@')+1:], rest
	}
	host = strings.ToLower(host)
	name = strings.Trim(strings.TrimSuffix(strings.Trim(name, "/"), ".git"), "/")
	if host != "github.com" && host != "gitlab.com" || !strings.Contains(name, "/") {
		return ""
	}
	return "https://" + host + "/" + name
}

// pick works out the files to check, and gives the paths that come to none.
func (f *folder) pick(ctx context.Context, all bool) (empty []string, err error) {
	for _, a := range f.asked {
		before := len(f.picked)
		switch f.kind(a.rel) {
		case regular, other:
			f.picked = append(f.picked, a.rel)
		case directory:
			err := f.walk(ctx, a.rel, func(name string) {
				if isCatalogFile(path.Base(name), all) {
					f.picked = append(f.picked, name)
				}
			})
			if err != nil {
				return nil, err
			}
		case missing:
		}
		if len(f.picked) == before {
			empty = append(empty, a.written)
		}
	}
	slices.Sort(f.picked)
	f.picked = slices.Compact(f.picked)
	return empty, nil
}

func nothingBelow(written string, all bool) error {
	what, fix := "catalog-info.yaml", "Name the file, or use --all for files of other names."
	if all {
		what, fix = "YAML file", "Correct the path."
	}
	return fault.New(fault.NotFound, "there is no %s below %q", what, written).WithFix("%s", fix)
}

func isCatalogFile(name string, all bool) bool {
	if all {
		return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
	}
	return name == "catalog-info.yaml" || name == "catalog-info.yml"
}

// display is a path as seen from the working folder.
func (f *folder) display(name string) string {
	full := filepath.Join(f.dir, filepath.FromSlash(name))
	if rel, err := filepath.Rel(f.cwd, full); err == nil {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(full)
}

// Read gives what a placeholder names.
func (f *folder) Read(ctx context.Context, at descriptor.Location) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	name, ok := f.local(at)
	if !ok {
		return nil, fmt.Errorf("%s %s", at.Target, notLooked)
	}
	data, err := f.read(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("%s %w", name, err)
	}
	return data, nil
}

// unlooked makes a warning of a problem that is only one of looking.
func unlooked(p entity.Problem, ref string) entity.Problem {
	if strings.Contains(p.Message, notLooked) {
		p.Severity = entity.SeverityWarning
	}
	if p.Ref == "" {
		p.Ref = ref
	}
	return p
}
