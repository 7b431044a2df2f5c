package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/internal/git"
)

// CheckPresent looks for everything on this machine that the configuration
// names: tokens, folders of sources, and the files and variables that hold
// their credentials. The error is a *ConfigError with all that is not there. A
// server starts without its sources and reads them once they are there.
func (c *Config) CheckPresent() error {
	k := &checker{root: c.root}
	if k.root == nil {
		k.root = &yaml.Node{Kind: yaml.MappingNode}
	}
	var tokens *ConfigError
	if _, err := c.authenticator(nil, nil); errors.As(err, &tokens) {
		k.problems = tokens.Problems
	} else if err != nil {
		return err
	}
	for i, s := range c.Catalog.Sources {
		path := fmt.Sprintf("catalog.sources[%d]", i)
		if s.File != nil {
			k.present(path+".file.path", s.File.Path)
		}
		if s.Git != nil {
			c.credentialsPresent(k, path+".git.credentials", s.Git.Credentials)
		}
	}
	return c.refuse(k.problems)
}

func (c *Config) credentialsPresent(k *checker, path string, cr git.Credentials) {
	for _, f := range []struct{ key, file string }{{".tokenFile", cr.TokenFile}, {".sshKeyFile", cr.SSHKeyFile}, {".knownHostsFile", cr.KnownHostsFile}} {
		if f.file != "" {
			k.present(path+f.key, c.path(f.file))
		}
	}
	if cr.TokenEnv != "" && os.Getenv(cr.TokenEnv) == "" {
		k.add(path+".tokenEnv", "the environment variable %s is not set here; set it to the token", cr.TokenEnv)
	}
}

func (k *checker) present(path, name string) {
	if _, err := os.Stat(name); err != nil {
		k.add(path, "%s cannot be read: %s", name, reason(err))
	}
}

// reason is why a file cannot be read, without its name.
func reason(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
