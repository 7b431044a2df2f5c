package infer

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// Repository is what the files of one repository at one revision say. It is
// not changed once made, and safe for concurrent use.
type Repository struct {
	readings map[string]Reading
	sorted   []string // the paths of readings
	// found are the good commands, each in its folder, by path.
	found []found
	// outcomes are what commands that are compared end up running.
	outcomes map[spot]outcome
	// rules are the files with rules for agents, by path.
	rules []Rules
	// targets are the targets and scripts defined, open the task files that
	// may define more, tasked the folders that have a task file of a runner.
	targets map[Need]Target
	open    map[Need]bool
	tasked  map[Need]string
	// homes are the folders from which one works: those with a task file or a
	// manifest.
	homes map[string]bool
	// made are the applications that sets make of the folders.
	made []Application
	// slos and alerts are those of all files, by path.
	slos   []SLO
	alerts []Alert
	// overlays and runbooks are known by their paths alone.
	overlays []Overlay
	runbooks []string
	// files are the paths that decided where commands belong and whether they
	// work.
	files []string
}

// Files are the paths, beside those that were read, that decided where
// commands belong and whether they work: NewRepository with these alone gives
// the same.
func (r *Repository) Files() []string { return r.files }

// found is a command and what it names that is not there.
type found struct {
	Command
	broken string
}

// NewRepository joins readings by path. files are all the paths of the
// repository.
func NewRepository(readings map[string]Reading, files []string) *Repository {
	r := &Repository{readings: readings, targets: map[Need]Target{}, open: map[Need]bool{}, tasked: map[Need]string{}, homes: map[string]bool{}}
	r.sorted = slices.Sorted(maps.Keys(readings))
	tree := newTree(files)
	for _, at := range r.sorted {
		if !readings[at].OnlyCalled {
			r.join(at, readings[at])
		}
	}
	r.reliability()
	called := r.follow()
	r.expand(tree)
	r.byPath(files, tree)
	for _, at := range r.sorted {
		if !readings[at].OnlyCalled {
			r.find(readings[at].Commands, tree)
		}
		if rules := readings[at].Rules; rules != nil {
			r.rules = append(r.rules, *rules)
		}
	}
	r.find(called, tree)
	r.outcomes = r.outcomesAhead()
	r.files = slices.Sorted(maps.Keys(tree.asked))
	return r
}

// find keeps the commands that are good enough to be given.
func (r *Repository) find(commands []Command, t *tree) {
	for _, c := range commands {
		if c.Score >= goodScore || c.Score >= weakScore && (c.Role == Test || c.Role == TestOne || c.Role == Lint) {
			c = r.placed(c, t)
			r.found = append(r.found, found{c, r.broken(c, t.there)})
		}
	}
}

// byPath notes the files that mean something by where they are.
func (r *Repository) byPath(files []string, t *tree) {
	for _, f := range files {
		if elsewhere(f) {
			continue
		}
		if o, ok := overlayOf(f); ok && t.there(f) {
			r.overlays = append(r.overlays, o)
		}
		if isRunbook(f) && t.there(f) {
			r.runbooks = append(r.runbooks, f)
		}
	}
	slices.SortFunc(r.overlays, func(a, b Overlay) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(r.runbooks)
}

// isRunbook tells whether a path is one at which teams keep runbooks.
func isRunbook(file string) bool {
	base := strings.ToLower(path.Base(file))
	if path.Ext(base) != ".md" {
		return false
	}
	for part := range strings.SplitSeq(strings.ToLower(folder(file)), "/") {
		if part == "runbooks" || part == "runbook" || part == "playbooks" {
			return base != "readme.md" && base != "index.md"
		}
	}
	return strings.HasPrefix(base, "runbook")
}

// tree is the files and folders of a repository. It notes which of them
// mattered.
type tree struct {
	files map[string]struct{}
	dirs  map[string]string // each with a file somewhere below it
	asked map[string]struct{}
}

func newTree(files []string) *tree {
	t := &tree{make(map[string]struct{}, len(files)), map[string]string{"": ""}, map[string]struct{}{}}
	for _, f := range files {
		t.files[f] = struct{}{}
		for d := folder(f); t.dirs[d] == "" && d != ""; d = folder(d) {
			t.dirs[d] = f
		}
	}
	return t
}

func (t *tree) there(p string) bool {
	_, ok := t.files[p]
	if ok {
		t.asked[p] = struct{}{}
	}
	return ok
}

func (t *tree) folder(d string) bool {
	f, ok := t.dirs[d]
	if ok && f != "" {
		t.asked[f] = struct{}{}
	}
	return ok
}

func (r *Repository) join(at string, reading Reading) {
	dir := folder(at)
	for _, t := range reading.Targets {
		r.targets[t.Need] = t
	}
	if runner := runnerOf(at); runner != "" {
		r.tasked[Need{Runner: runner, Dir: dir}] = at
		r.homes[dir] = true
		if reading.Open || reading.Unreadable != "" {
			r.open[Need{Runner: runner, Dir: dir}] = true
		}
	}
	for _, c := range reading.Commands {
		if c.Origin == Manifest {
			r.homes[dir] = true
		}
	}
}

// runnerOf is the runner of a task file's targets.
func runnerOf(at string) string {
	switch base := strings.ToLower(path.Base(at)); {
	case isMakefile("", path.Base(at)):
		return "make"
	case base == "justfile" || base == ".justfile":
		return "just"
	case strings.HasPrefix(base, "taskfile."):
		return "task"
	case base == "package.json":
		return "npm"
	}
	return ""
}

// Readings are the readings by path; they are not to be changed.
func (r *Repository) Readings() map[string]Reading { return r.readings }

// home is the folder from which one works on dir: itself or the nearest above
// it that has a task file or a manifest.
func (r *Repository) home(dir string) string {
	for d := dir; d != ""; d = folder(d) {
		if r.homes[d] {
			return d
		}
	}
	return ""
}

// placed puts a command of a text into the folder that it speaks of, which
// for a text in a folder may be that folder or the root.
func (r *Repository) placed(c Command, t *tree) Command {
	if c.Origin != Agents && c.Origin != Docs {
		return c
	}
	from := r.home(folder(c.Path))
	best := join(from, c.Within)
	for _, d := range []string{best, join("", c.Within), join(folder(c.Path), c.Within)} {
		if !t.folder(d) {
			continue
		}
		if moved := move(c, d); r.broken(moved, t.there) == "" && t.mentioned(moved) {
			return moved
		}
	}
	return move(c, best)
}

func move(c Command, dir string) Command {
	c.Needs = slices.Clone(c.Needs)
	for i := range c.Needs {
		below := strings.TrimPrefix(strings.TrimPrefix(c.Needs[i].Dir, c.Dir), "/")
		c.Needs[i].Dir = join(dir, below)
	}
	c.Dir = dir
	return c
}

// mentioned tells whether a path that a command names is there from its
// folder, if it names one that is there at all.
func (t *tree) mentioned(c Command) bool {
	for word := range strings.FieldsSeq(c.Text) {
		word = strings.Trim(word, `"'`)
		word, _, _ = strings.Cut(word, "::")
		if !strings.Contains(word, "/") || strings.HasPrefix(word, "-") || strings.Contains(word, "...") {
			continue
		}
		p := join("", strings.TrimSuffix(word, "/"))
		if (t.there(p) || t.folder(p)) && c.Dir != "" && !t.there(join(c.Dir, p)) && !t.folder(join(c.Dir, p)) {
			return false
		}
	}
	return true
}

// broken says which target or script of a command is not there, "" if all
// are or nobody can tell.
func (r *Repository) broken(c Command, there func(path string) bool) string {
	for _, n := range c.Needs {
		if why := r.lacks(n, there); why != "" {
			return why
		}
	}
	return ""
}

func (r *Repository) lacks(n Need, there func(path string) bool) string {
	if n.Runner == "script" {
		if at := join(n.Dir, n.Name); !there(at) && !strings.HasPrefix(at, "..") && !there(".gitmodules") {
			return "there is no file " + at
		}
		return ""
	}
	runner := Need{Runner: n.Runner, Dir: n.Dir}
	file, has := r.tasked[runner]
	target, defined := r.targets[n]
	switch {
	case defined:
		return r.missing(target, there, maxFollow)
	case r.open[runner] || builtIn(n):
		return ""
	case has:
		return file + " has no target " + n.Name
	case n.Runner == "npm":
		return "there is no package.json in " + shown(n.Dir)
	case n.Runner == "make":
		return "there is no Makefile in " + shown(n.Dir)
	case n.Runner == "just":
		return "there is no justfile in " + shown(n.Dir)
	default:
		return "there is no Taskfile in " + shown(n.Dir)
	}
}

// builtIn tells whether a package manager knows a script without its being
// defined.
func builtIn(n Need) bool { return n.Runner == "npm" && (n.Name == "ci" || n.Name == "install") }

func shown(dir string) string {
	if dir == "" {
		return "the root folder"
	}
	return dir
}
