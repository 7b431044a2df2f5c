// Package code tells which files of a repository are text that people write
// and search, what a search is looking for in them, and where it is.
package code

import (
	"path"
	"strings"
)

// Tier orders the files of a search: programs come before configuration,
// documentation and tests.
type Tier int

// The tiers, in the order of hits.
const (
	Program Tier = iota
	Configuration
	Text
	Test
	// None is of files that are not searched: what they hold is known and need
	// not be read again.
	None Tier = 7
)

// Kind tells in which tier a file of this path is and in what language it is
// written, "" where that is not known. Of files that are not searched
// whatever they hold, wanted is false: other people's code, what programs made,
// lock files, pictures and archives.
func Kind(at string) (tier Tier, language string, wanted bool) {
	low := strings.ToLower(at)
	dir, name := path.Split(low)
	if foreign(dir) || locked(name) || made(name) {
		return None, "", false
	}
	language = languageOf(name)
	switch language {
	case "binary":
		return None, "", false
	case "markdown", "text", "restructuredtext", "asciidoc":
		tier = Text
	case "", "yaml", "json", "toml", "ini", "xml", "properties", "csv", "dotenv":
		tier = Configuration
	}
	if tested(dir, name) {
		tier = Test
	}
	return tier, language, true
}

// foreign tells whether a folder holds what others wrote or programs made.
func foreign(dir string) bool {
	for part := range strings.SplitSeq(dir, "/") {
		switch part {
		case "vendor", "node_modules", "third_party", "bower_components", ".git", ".svn", ".hg", "dist", ".next", ".nuxt", "__pycache__", ".venv", "venv", "site-packages",
			".yarn", ".terraform", ".gradle", ".idea", ".cache", "target", "pods", "carthage", "jspm_packages", ".tox", ".mypy_cache", "coverage", "__snapshots__":
			return true
		}
	}
	return false
}

// locked tells whether a file pins what others made.
func locked(name string) bool {
	switch name {
	case "go.sum", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "cargo.lock", "poetry.lock", "pipfile.lock", "uv.lock", "pdm.lock", "gemfile.lock",
		"composer.lock", "mix.lock", "flake.lock", "gradle.lockfile", "packages.lock.json", "deno.lock", "podfile.lock", "pubspec.lock", "chart.lock", ".terraform.lock.hcl", "go.work.sum":
		return true
	}
	return false
}

// made tells by its name whether a program wrote a file.
func made(name string) bool {
	for _, end := range []string{".min.js", ".min.css", ".min.mjs", ".map", ".pb.go", ".pb.gw.go", "_pb2.py", "_pb2_grpc.py", ".pb.cc", ".pb.h", "_pb.js", "_pb.d.ts", "_pb.ts", ".g.dart", ".designer.cs",
		".bundle.js", ".chunk.js", ".snap", ".po", ".sum", ".log"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return strings.HasPrefix(name, "zz_generated")
}

// tested tells whether a file is of a test.
func tested(dir, name string) bool {
	for part := range strings.SplitSeq(dir, "/") {
		switch part {
		case "test", "tests", "testdata", "__tests__", "fixtures", "__fixtures__", "spec", "e2e", "mocks", "__mocks__", "testing":
			return true
		}
	}
	stem := strings.TrimSuffix(name, path.Ext(name))
	for _, end := range []string{"_test", ".test", ".spec", "_spec", "-test", "_unittest"} {
		if strings.HasSuffix(stem, end) {
			return true
		}
	}
	return strings.HasPrefix(name, "test_") || strings.HasSuffix(stem, "test") && (strings.HasSuffix(name, ".java") || strings.HasSuffix(name, ".kt") || strings.HasSuffix(name, ".scala"))
}

// languageOf is a file's language by its name; "binary" is what is no text.
func languageOf(name string) string {
	switch name {
	case "makefile", "gnumakefile":
		return "make"
	case "dockerfile", "containerfile":
		return "dockerfile"
	case "justfile", ".justfile":
		return "just"
	case "jenkinsfile":
		return "groovy"
	case "cmakelists.txt":
		return "cmake"
	case "gemfile", "rakefile", "vagrantfile":
		return "ruby"
	case "tiltfile", "build", "workspace", "build.bazel", "workspace.bazel", "module.bazel":
		return "starlark"
	case "go.mod", "go.work":
		return "go-module"
	case "codeowners", "license", "licence", "notice", "authors":
		return "text"
	}
	if strings.HasPrefix(name, "dockerfile.") || strings.HasSuffix(name, ".dockerfile") {
		return "dockerfile"
	}
	if strings.HasPrefix(name, ".env") {
		return "dotenv"
	}
	return languageByExtension(strings.TrimPrefix(path.Ext(name), "."))
}
