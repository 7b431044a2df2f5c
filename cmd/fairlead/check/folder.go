package check

import (
	"context"
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
	dir  string // absolute
	cwd  string
	root *os.Root
	// base is the URL that stands for the folder, web that of its repository.
	base   descriptor.Location
	web    string
	picked []string
	// files are all files, listed when first asked for.
	files []string
}

// collect finds the files to check, by the folder that each belongs to.
func collect(ctx context.Context, o Options) ([]*folder, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, fault.New(fault.Unavailable, "the working folder cannot be told").Because(err)
	}
	byDir := map[string]*folder{}
	var out []*folder
	for _, p := range o.Paths {
		real, info, err := resolve(p)
		if err != nil {
			return nil, err
		}
		dir := home(real, info.IsDir())
		f := byDir[dir]
		if f == nil {
			if f, err = open(dir, cwd); err != nil {
				return nil, err
			}
			byDir[dir] = f
			out = append(out, f)
		}
		if err := f.pick(ctx, real, p, info.IsDir(), o.All); err != nil {
			return nil, err
		}
	}
	for _, f := range out {
		slices.Sort(f.picked)
		f.picked = slices.Compact(f.picked)
	}
	return out, nil
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

// home is the repository that a path is in, else the folder itself: files
// outside of it are not looked at.
func home(real string, isDir bool) string {
	dir := real
	if !isDir {
		dir = filepath.Dir(real)
	}
	if root, err := git.FindRepository(dir); err == nil {
		return root
	}
	return dir
}

func open(dir, cwd string) (*folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "the folder %s cannot be read", dir).WithFix("Let yourself read it.").Because(err)
	}
	f := &folder{dir: dir, cwd: cwd, root: root, web: "https://github.com/this/folder"}
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

// pick adds what a path names to the files to check.
func (f *folder) pick(ctx context.Context, real, written string, isDir, all bool) error {
	rel, err := filepath.Rel(f.dir, real)
	if err != nil {
		return fault.New(fault.Invalid, "%q is not below %s", written, f.dir).Because(err)
	}
	rel = filepath.ToSlash(rel)
	if !isDir {
		f.picked = append(f.picked, rel)
		return nil
	}
	before := len(f.picked)
	err = f.walk(ctx, rel, func(name string) {
		if isCatalogFile(path.Base(name), all) {
			f.picked = append(f.picked, name)
		}
	})
	if err == nil && len(f.picked) == before {
		what, fix := "catalog-info.yaml", "Name the file, or use --all for files of other names."
		if all {
			what, fix = "YAML file", "Correct the path."
		}
		return fault.New(fault.NotFound, "there is no %s below %q", what, written).WithFix("%s", fix)
	}
	return err
}

func isCatalogFile(name string, all bool) bool {
	if all {
		return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
	}
	return name == "catalog-info.yaml" || name == "catalog-info.yml"
}

// walk names every file below a folder, in order.
func (f *folder) walk(ctx context.Context, dir string, each func(string)) error {
	n := 0
	return fs.WalkDir(f.root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, fs.ErrNotExist):
			return nil // it has gone meanwhile
		case err != nil:
			return fault.New(fault.Unavailable, "the folder %s cannot be read", f.display(name)).WithFix("Let yourself read it.").Because(err)
		case d.IsDir() && name != dir && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		if n++; n > maxFiles {
			return fault.New(fault.FailedPrecondition, "%s holds more than %d files", f.display(dir), maxFiles).WithFix("Name a smaller folder.")
		}
		each(name)
		return nil
	})
}

// display is a path as seen from the working folder.
func (f *folder) display(name string) string {
	full := filepath.Join(f.dir, filepath.FromSlash(name))
	if rel, err := filepath.Rel(f.cwd, full); err == nil {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(full)
}

// read gives a file's bytes; its error says what the file is.
func (f *folder) read(name string) ([]byte, error) {
	info, err := f.root.Stat(filepath.FromSlash(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("is not there: %w", descriptor.ErrNotFound)
	case err != nil:
		return nil, errors.New("cannot be read, or leads out of the folder")
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("is no file: %w", descriptor.ErrNotFound)
	case info.Size() > maxFile:
		return nil, errors.New("has more than 1 MiB, the size up to which a server reads files unless it is told otherwise")
	}
	file, err := f.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, errors.New("cannot be read")
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return nil, errors.New("cannot be read")
	}
	return data, nil
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
	data, err := f.read(name)
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
