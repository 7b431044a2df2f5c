package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Config is a registry that may be asked: one of the section registries.
type Config struct {
	// Host is its name, with its port where that is not the usual one, for example
	// ghcr.io; docker.io is Docker's.
	Host string `yaml:"host"`
	// Username and a password by PasswordFile or PasswordEnv; without it is asked
	// as nobody.
	Username     string `yaml:"username"`
	PasswordFile string `yaml:"passwordFile"`
	PasswordEnv  string `yaml:"passwordEnv"`
	// PlainHTTP has it asked without TLS, Private lets it be at an address that is
	// not public.
	PlainHTTP bool `yaml:"plainHTTP"`
	Private   bool `yaml:"private"`
}

// Problem is one thing wrong with a Config.
type Problem struct {
	// Field is the key, Message what is wrong and what to write.
	Field, Message string
}

// Validate tells everything that is wrong with it. It looks at no file.
func (c *Config) Validate() []Problem {
	var ps []Problem
	if _, err := name.NewRegistry(c.Host, name.StrictValidation); err != nil || c.Host == "" {
		ps = append(ps, Problem{"host", fmt.Sprintf("%q is no host of a registry; write for example ghcr.io", c.Host)})
	}
	if c.PasswordFile != "" && c.PasswordEnv != "" {
		ps = append(ps, Problem{"passwordFile", "name passwordFile or passwordEnv, and not both"})
	}
	if password := c.PasswordFile + c.PasswordEnv; (c.Username == "") != (password == "") {
		ps = append(ps, Problem{"username", "a username goes with passwordFile or passwordEnv"})
	}
	return ps
}

// In resolves relative files against the configuration's folder.
func (c *Config) In(dir string) {
	if c.PasswordFile != "" && !filepath.IsAbs(c.PasswordFile) {
		c.PasswordFile = filepath.Join(dir, c.PasswordFile)
	}
}

// key is the registry as references to images name it.
func (c *Config) key() string {
	r, err := name.NewRegistry(c.Host)
	if err != nil {
		return c.Host
	}
	return r.Name()
}

// maxPassword bounds a password, in bytes.
const maxPassword = 64 << 10

// auth is who asks; the password is read anew each time.
func (c *Config) auth() (authn.Authenticator, error) {
	if c.Username == "" {
		return authn.Anonymous, nil
	}
	password := os.Getenv(c.PasswordEnv)
	if c.PasswordFile != "" {
		text, err := os.ReadFile(c.PasswordFile)
		if err != nil || len(text) > maxPassword {
			return nil, fault.New(fault.Unavailable, "the password for the registry %s cannot be read", c.Host).WithFix("Correct passwordFile in the section registries.").Because(err)
		}
		password = strings.TrimSpace(string(text))
	}
	return &authn.Basic{Username: c.Username, Password: password}, nil
}
