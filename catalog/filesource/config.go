// Package filesource reads catalog files from a folder or a single file on
// disk. What changed is told from sizes, times and inodes, so that looking
// costs no reading; files outside the folder are out of reach, also by
// symbolic links.
package filesource

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Config is the section file of a catalog source.
type Config struct {
	// Path is a folder, or one catalog file.
	Path string `yaml:"path"`
	// Include are the globs of catalog files in the folder; default
	// catalog-info.yaml and catalog-info.yml at any depth. A single file has
	// none.
	Include []string `yaml:"include"`
	// Limits bound what reading may cost.
	Limits Limits `yaml:"limits"`
}

// Limits bound what reading a folder may cost; zero values mean the defaults.
type Limits struct {
	// FileBytes of one file; default 1 MiB. Larger files are not read.
	FileBytes int64 `yaml:"fileBytes"`
	// Files in the folder; default 200,000.
	Files int `yaml:"files"`
}

// The defaults of Limits.
const (
	DefaultFileBytes int64 = 1 << 20
	DefaultFiles           = 200_000
)

// Problem is one thing wrong with a Config.
type Problem struct {
	// Field is the key below file, for example include[0].
	Field string
	// Message says what is wrong and what to write.
	Message string
}

// Validate tells everything that is wrong with the section. It looks at no
// file.
func (c *Config) Validate() []Problem {
	var ps []Problem
	add := func(field, format string, args ...any) {
		ps = append(ps, Problem{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	if c.Path == "" {
		add("path", "the folder or file is missing")
	}
	for i, glob := range c.Include {
		if glob == "" || strings.HasPrefix(glob, "/") || !doublestar.ValidatePattern(glob) {
			add(fmt.Sprintf("include[%d]", i), "%q is no glob; write for example **/catalog-info.yaml, relative to the folder", glob)
		}
	}
	if c.Limits.FileBytes < 0 {
		add("limits.fileBytes", "%d is less than nothing", c.Limits.FileBytes)
	}
	if c.Limits.Files < 0 {
		add("limits.files", "%d is less than nothing", c.Limits.Files)
	}
	return ps
}

func (l Limits) withDefaults() Limits {
	if l.FileBytes == 0 {
		l.FileBytes = DefaultFileBytes
	}
	if l.Files == 0 {
		l.Files = DefaultFiles
	}
	return l
}

// DefaultInclude are the globs of catalog files where none are configured.
func DefaultInclude() []string { return []string{"**/catalog-info.yaml", "**/catalog-info.yml"} }
