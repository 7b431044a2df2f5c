package knowledge

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
)

// CodeConfig is the section knowledge.code; zero values mean the defaults.
type CodeConfig struct {
	// Off switches the search for code off.
	Off bool `yaml:"off"`
	// Sources are globs of the names of sources whose code is searched;
	// default those that the configuration names. Those that a forge lists
	// are called organization/repository.
	Sources []string `yaml:"sources"`
	// MaxFileBytes of one file; default 256 KiB. Larger files are not searched.
	MaxFileBytes int64 `yaml:"maxFileBytes"`
	// MaxRepositoryBytes are read of one source at most; default 256 MiB.
	MaxRepositoryBytes int64 `yaml:"maxRepositoryBytes"`
	// MaxBytes are searched in all; default 4 GiB. About half as much is taken
	// on disk.
	MaxBytes int64 `yaml:"maxBytes"`
}

// The defaults of CodeConfig.
const (
	DefaultCodeFileBytes       int64 = 256 << 10
	DefaultCodeRepositoryBytes int64 = 256 << 20
	DefaultCodeBytes           int64 = 4 << 30
)

// ConfigProblem is one thing wrong with a section of the room.
type ConfigProblem struct {
	// Field is the key below the section, for example sources[0].
	Field string
	// Message says what is wrong and what to write.
	Message string
}

// Validate tells everything that is wrong with the section.
func (c *CodeConfig) Validate() []ConfigProblem {
	var ps []ConfigProblem
	for i, glob := range c.Sources {
		if glob == "" || !doublestar.ValidatePattern(glob) {
			ps = append(ps, ConfigProblem{fmt.Sprintf("sources[%d]", i), fmt.Sprintf("%q is no glob of sources' names; write for example acme/*", glob)})
		}
	}
	for _, l := range []struct {
		field string
		value int64
	}{{"maxFileBytes", c.MaxFileBytes}, {"maxRepositoryBytes", c.MaxRepositoryBytes}, {"maxBytes", c.MaxBytes}} {
		if l.value < 0 {
			ps = append(ps, ConfigProblem{l.field, fmt.Sprintf("%d is less than nothing", l.value)})
		}
	}
	return ps
}

func (c CodeConfig) withDefaults() CodeConfig {
	if c.MaxFileBytes == 0 {
		c.MaxFileBytes = DefaultCodeFileBytes
	}
	if c.MaxRepositoryBytes == 0 {
		c.MaxRepositoryBytes = DefaultCodeRepositoryBytes
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultCodeBytes
	}
	return c
}

// settings are what decides how a source is read, as a word to compare.
func (c CodeConfig) settings(source ingest.Description) string {
	if !c.wants(source.Name) {
		return "off"
	}
	fileBytes := c.MaxFileBytes
	if source.FileBytes > 0 {
		fileBytes = min(fileBytes, source.FileBytes)
	}
	return fmt.Sprintf("%d %d %d", fileBytes, c.MaxRepositoryBytes, c.MaxBytes)
}

// wants tells whether a source's code is searched.
func (c CodeConfig) wants(source string) bool {
	if c.Off {
		return false
	}
	if len(c.Sources) == 0 {
		return !strings.Contains(source, "/")
	}
	for _, glob := range c.Sources {
		if doublestar.MatchUnvalidated(glob, source) {
			return true
		}
	}
	return false
}
