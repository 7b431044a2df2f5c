package objects

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Mode is what an entry of a tree is.
type Mode uint8

// The modes; symbolic links and submodules are never followed.
const (
	Other Mode = iota
	File
	Dir
	Symlink
	Submodule
)

// Entry is one entry of a tree.
type Entry struct {
	Name []byte // part of the tree's content
	Mode Mode
	Exec bool // a file that may be run
	ID   ID
}

// Safe tells whether the name can be part of a path: valid UTF-8, not . or ..
// or .git, and without a slash.
func (e Entry) Safe() bool {
	switch n := len(e.Name); {
	case n == 0 || n > 4096, !utf8.Valid(e.Name), bytes.ContainsAny(e.Name, "/\x00"):
		return false
	case n <= 2 && strings.Trim(string(e.Name), ".") == "", n == 4 && strings.EqualFold(string(e.Name), ".git"):
		return false
	default:
		return true
	}
}

// NextEntry takes the first entry off a tree's content.
func NextEntry(data []byte) (e Entry, rest []byte, err error) {
	space := bytes.IndexByte(data, ' ')
	if space < 0 || space > 6 {
		return Entry{}, nil, corrupt("tree entry: mode")
	}
	end := bytes.IndexByte(data, 0)
	if end < space || end+1+idSize > len(data) {
		return Entry{}, nil, corrupt("tree entry is cut short")
	}
	e.Name = data[space+1 : end]
	e.Mode = modeOf(data[:space])
	e.Exec = e.Mode == File && space >= 3 && (data[space-3]-'0')&1 != 0
	copy(e.ID[:], data[end+1:])
	return e, data[end+1+idSize:], nil
}

func modeOf(octal []byte) Mode {
	switch string(octal) {
	case "40000", "040000":
		return Dir
	case "120000":
		return Symlink
	case "160000":
		return Submodule
	}
	if bytes.HasPrefix(octal, []byte("100")) {
		return File
	}
	return Other
}
