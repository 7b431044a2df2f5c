package infer

import (
	"path"
	"slices"
	"strings"
)

// selectsTests tells whether arguments choose some of the tests: by a flag
// that names them, a file, or the name of one in a file.
func selectsTests(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		name, _, _ := strings.Cut(a, "=")
		switch name {
		case "-run", "--run", "--filter", "-filter", "--grep", "-g", "-k", "-t", "--testNamePattern", "--testPathPattern", "--tests", "-Dtest", "-Dit.test", "--focus", "-R", "--tests-regex",
			"--testFile", "--test-name-pattern", "-only-testing", "--only-testing", "--test_filter", "--match", "--match-test", "--match-contract", "--only", "--example", "-e", "--name", "--spec":
			return true
		}
		return strings.Contains(name, "::") || isTestFile(a)
	})
}

// isTestFile tells whether a word names a file of code, alone or with a line
// or a test in it.
func isTestFile(word string) bool {
	if strings.HasPrefix(word, "-") {
		return false
	}
	if file, line, ok := strings.Cut(word, ":"); ok && line != "" && strings.Trim(line, "0123456789") == "" {
		word = file
	}
	switch path.Ext(word) {
	case ".go", ".py", ".rb", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".tsx", ".exs", ".php", ".java", ".kt", ".rs", ".swift", ".dart", ".cs", ".cpp", ".c", ".scala", ".clj", ".test", ".bats", ".feature":
		return true
	}
	return false
}

// tested narrows a judgement that it is about tests where the arguments choose
// some of them, or name a file or folder after the first skip words.
func tested(judge func([]string) verdict, skip int) func([]string) verdict {
	return func(args []string) verdict {
		v := judge(args)
		if v.role != Test {
			return v
		}
		w := words(beforeDash(args))
		named := len(w) > skip && slices.ContainsFunc(w[skip:], func(s string) bool {
			return isTestFile(s) || strings.Contains(strings.Trim(s, "./"), "/") || strings.Contains(s, openMark)
		})
		if named || selectsTests(args) {
			v.one, v.narrow = true, true
		}
		return v
	}
}

// ofProject narrows a judgement to a package or project where f says so: that
// is a way to run the tests of one, and the best there is where nothing runs
// all.
func ofProject(judge func([]string) verdict, f func(args []string) bool) func([]string) verdict {
	return func(args []string) verdict {
		v := judge(args)
		if v.role != "" && f(args) {
			v.project = !v.one
			v.narrow, v.one = true, v.role == Test || v.one
		}
		return v
	}
}

// anyArg tells whether one of the arguments is one of names, alone or before
// an equals sign.
func anyArg(args []string, names ...string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		name, _, _ := strings.Cut(a, "=")
		return slices.Contains(names, name)
	})
}
