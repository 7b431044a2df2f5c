// Package infer finds what a repository's own files say about working on it:
// the commands that build and test it, its service level objectives, alerts
// and runbooks, who owns which path, and where it is deployed. It reads text
// and runs nothing. Every finding carries its file and line.
package infer

import (
	"path"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
)

// The bounds of what is read of one file.
const (
	// MaxFile is the largest file that is read, in bytes.
	MaxFile = 1 << 20
	// maxFindings bounds what one file may say of one sort.
	maxFindings = 2_000
	// maxText bounds one command or text, in bytes.
	maxText = 500
	// maskedScore is what the score of a command is changed by from which a
	// secret was taken out.
	maskedScore = -5
)

// Place is where something is written.
type Place struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
}

// Origin says what sort of file a command was found in. CI counts for more
// than prose, because CI fails when it is wrong.
type Origin string

// The origins, best first.
const (
	CI       Origin = "ci"       // a workflow of GitHub, GitLab or Gitea
	Agents   Origin = "agents"   // AGENTS.md, CLAUDE.md
	Tasks    Origin = "tasks"    // a target of a Makefile, justfile, Taskfile or package.json
	Docs     Origin = "docs"     // CONTRIBUTING.md, DEVELOPMENT.md
	Manifest Origin = "manifest" // what a go.mod, Cargo.toml, pom.xml, … implies
)

// Command is a command as one would type it.
type Command struct {
	Role Role   `json:"role"`
	Text string `json:"text"`
	// Dir is the folder to run it in, "" for the root of the repository. In
	// prose it is a guess, for a text in a folder may speak of the whole.
	Dir string `json:"dir,omitempty"`
	// About is the folder that it concerns where that is another one than Dir:
	// a workflow that runs when a folder changes is about that folder.
	About string `json:"about,omitempty"`
	// Within is what a text says about the folder, relative to Dir's guess.
	Within string `json:"within,omitempty"`
	Origin Origin `json:"origin"`
	Place
	// Score orders the commands of one file and role: the wider a command and
	// the plainer the place, the higher.
	Score int `json:"score"`
	// Needs are the targets and scripts that must be there for it to work.
	Needs []Need `json:"needs,omitempty"`
}

// narrow makes a command that covers a part only count for less, and one that
// chooses among the tests the way to run one.
func (c *Command) narrow(v verdict) {
	switch {
	case v.one && v.role == Test:
		c.Role = TestOne
	case v.narrow:
		c.Score -= plainScore
	}
}

// Need is a target of a task file, or a script, that a command names.
type Need struct {
	// Runner is make, just, task, npm (for every runner of package.json's
	// scripts), or script for a file.
	Runner string `json:"runner"`
	Name   string `json:"name"`
	Dir    string `json:"dir,omitempty"`
}

// Target is what a task file defines.
type Target struct {
	Need
	Place
	// Recipe is what it runs, as far as that fits a line.
	Recipe string `json:"recipe,omitempty"`
	// Deps are the targets that it has made first.
	Deps []string `json:"deps,omitempty"`
	// Scripts are the scripts that it runs, from its own folder.
	Scripts []Need `json:"scripts,omitempty"`
	// Open tells that a part of what it runs is only known when it runs.
	Open bool `json:"open,omitempty"`
}

// Rules is a file with rules for agents.
type Rules struct {
	Place
	// Dir is the folder that it is about.
	Dir string `json:"dir,omitempty"`
}

// Reading is what one file says.
type Reading struct {
	Commands []Command `json:"commands,omitempty"`
	Targets  []Target  `json:"targets,omitempty"`
	Rules    *Rules    `json:"rules,omitempty"`
	SLOs     []SLO     `json:"slos,omitempty"`
	// Objects are the OpenSLO objects that objectives name.
	Objects      []OpenObject  `json:"objects,omitempty"`
	Alerts       []Alert       `json:"alerts,omitempty"`
	Owners       []OwnerRule   `json:"owners,omitempty"`
	Applications []Application `json:"applications,omitempty"`
	// Sets are the sets of applications that are one for each folder.
	Sets []AppSet `json:"sets,omitempty"`
	// Open tells that a task file includes others or makes targets by
	// pattern, so that a target which it does not name may still be there.
	Open bool `json:"open,omitempty"`
	// Calls are the files of the repository that a workflow runs or a Makefile
	// includes. OnlyCalled tells that what a file says counts only where
	// another that counts calls it.
	Calls      []string `json:"calls,omitempty"`
	OnlyCalled bool     `json:"onlyCalled,omitempty"`
	// Unreadable says why nothing was understood, "" if something was.
	Unreadable string `json:"unreadable,omitempty"`
}

// kind is a sort of file that inference reads.
type kind struct {
	match func(dir, base string) bool
	read  func(at string, data []byte) Reading
}

func kinds() []kind {
	return []kind{
		{isNamed("agents.md", "claude.md", "agent.md"), readAgents},
		{isNamed("contributing.md", "development.md", "developing.md", "hacking.md"), readDocs},
		{isMakefile, readMakefile},
		{isNamed("justfile", ".justfile"), readJustfile},
		{isNamed("taskfile.yml", "taskfile.yaml", "taskfile.dist.yml", "taskfile.dist.yaml"), readTaskfile},
		{isNamed("package.json"), readPackageJSON},
		{isNamed("go.mod"), readGoMod},
		{isNamed("pyproject.toml"), readPyproject},
		{isNamed("cargo.toml"), readCargo},
		{isNamed("pom.xml"), readMaven},
		{isNamed("build.gradle", "build.gradle.kts"), readGradle},
		{isMakeFragment, readMakeFragment},
		{isWorkflow, readWorkflow},
		{isAction, readAction},
		{isGitLab, readGitLab},
		{isCodeowners, readCodeowners},
		{isOperations, readOperations},
	}
}

func isNamed(names ...string) func(dir, base string) bool {
	return func(_, base string) bool {
		base = strings.ToLower(base)
		for _, n := range names {
			if base == n {
				return true
			}
		}
		return false
	}
}

func isMakefile(_, base string) bool {
	return base == "Makefile" || base == "makefile" || base == "GNUmakefile"
}

func isWorkflow(dir, base string) bool {
	ext := path.Ext(base)
	return (dir == ".github/workflows" || dir == ".gitea/workflows" || dir == ".forgejo/workflows") && (ext == ".yml" || ext == ".yaml")
}

// elsewhere tells whether a path is in a folder that holds other people's
// code or examples, which say nothing of this repository.
func elsewhere(at string) bool {
	for part := range strings.SplitSeq(path.Dir(at), "/") {
		switch part {
		case "node_modules", "vendor", "third_party", "testdata", "fixtures", "__fixtures__", ".git", "dist":
			return true
		}
	}
	return false
}

// Wanted tells whether a file of this path is one that inference reads.
func Wanted(at string) bool { return of(at) != nil }

// Tells tells whether a file of this path may say something, be it by its path
// alone.
func Tells(at string) bool {
	if !plausible(at) || elsewhere(at) {
		return false
	}
	_, overlay := overlayOf(at)
	return overlay || isRunbook(at) || Wanted(at)
}

// plausible tells whether any file of this ending is read, which is quickly
// said of nearly all that are not.
func plausible(at string) bool {
	switch strings.ToLower(path.Ext(at)) {
	case "", ".justfile", ".md", ".yml", ".yaml", ".json", ".toml", ".mod", ".xml", ".gradle", ".kts", ".mk":
		return true
	}
	return false
}

func of(at string) *kind {
	if !plausible(at) || elsewhere(at) {
		return nil
	}
	dir, base := folder(at), path.Base(at)
	for _, k := range kinds() {
		if k.match(dir, base) {
			return &k
		}
	}
	return nil
}

// folder is the folder of a path, "" for the root.
func folder(at string) string {
	if d := path.Dir(at); d != "." {
		return d
	}
	return ""
}

// Read finds what a file says. at is its path in the repository, with forward
// slashes. A file that inference does not read, that is too large or that
// cannot be parsed gives an empty Reading which says why.
func Read(at string, data []byte) Reading {
	k := of(at)
	switch {
	case k == nil:
		return Reading{}
	case len(data) > MaxFile:
		return Reading{Unreadable: "the file is larger than 1 MiB"}
	}
	r := k.read(at, data)
	r.Commands = r.Commands[:min(len(r.Commands), maxFindings)]
	r.Targets = r.Targets[:min(len(r.Targets), maxFindings)]
	for i := range r.Commands {
		if shown := access.Redact(r.Commands[i].Text); shown != r.Commands[i].Text {
			r.Commands[i].Text = shown
			r.Commands[i].Score += maskedScore // nobody can type it as it is shown
		}
	}
	for i := range r.Targets {
		r.Targets[i].Recipe = access.Redact(r.Targets[i].Recipe)
	}
	return r
}
