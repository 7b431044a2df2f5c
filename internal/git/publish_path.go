package git

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

const (
	// maxPath and maxName bound a path and its parts in bytes, maxParts how deep
	// it leads.
	maxPath  = 1024
	maxName  = 200
	maxParts = 64
)

// checkPath refuses paths that lead out of the repository or into Git's own
// files, on any system that may check the commit out.
func checkPath(path string) error {
	why := ""
	switch parts := strings.Split(path, "/"); {
	case path == "":
		why = "is empty"
	case len(path) > maxPath || len(parts) > maxParts:
		why = "is too long"
	case !utf8.ValidString(path):
		why = "is no UTF-8"
	case strings.HasPrefix(path, "/"):
		why = "is absolute; paths are relative to the repository's root"
	case strings.EqualFold(path, ".gitmodules"):
		why = "says where submodules come from, which is left to people"
	default:
		for _, part := range parts {
			if why = oddName(part); why != "" {
				break
			}
		}
	}
	if why == "" {
		return nil
	}
	return fault.New(fault.Invalid, "the path %.200q %s", path, why).WithFix("Write a path such as docs/answers/restart.md.")
}

// oddName says what is wrong with a part of a path; "" if nothing is.
func oddName(name string) string {
	// Windows looks past what follows a colon, and past dots and spaces at the end.
	plain, _, _ := strings.Cut(strings.ToLower(name), ":")
	plain = strings.TrimRight(plain, ". ")
	switch {
	case name == "":
		return "has an empty part"
	case name == "." || name == "..":
		return "has a part that is no name"
	case len(name) > maxName:
		return "has a part that is too long"
	case plain == ".git" || strings.HasPrefix(plain, "git~"):
		return "leads into Git's own files"
	case strings.ContainsRune(name, '\\'):
		return "holds a backslash"
	case strings.TrimRight(name, ". ") != name:
		return "has a part that ends in a dot or a space"
	}
	for _, r := range name {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || r == utf8.RuneError {
			return "holds characters that cannot be seen"
		}
	}
	return ""
}
