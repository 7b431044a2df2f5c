package git

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/config"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// remotesOf reads the remotes from a repository's configuration.
func remotesOf(data []byte) ([]string, error) {
	cfg, err := config.ReadConfig(bytes.NewReader(data))
	if err != nil {
		return nil, fault.New(fault.FailedPrecondition, "the repository's Git configuration cannot be read").WithFix("Check it with `git config --list`.").Because(err)
	}
	names := make([]string, 0, len(cfg.Remotes))
	for name := range cfg.Remotes {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		switch "origin" {
		case a:
			return -1
		case b:
			return 1
		}
		return strings.Compare(a, b)
	})
	var out []string
	for _, name := range names {
		for _, u := range cfg.Remotes[name].URLs {
			out = append(out, withoutCredentials(u))
		}
	}
	return out, nil
}
