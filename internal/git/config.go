package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

// SourceConfig is the section git of a catalog source.
type SourceConfig struct {
	// URL is where the repository is: http, https, ssh, git@host:path, or a
	// folder on disk (a path or file://), which is read in place.
	URL string `yaml:"url"`
	// Ref is the branch, tag or full commit id that is read; without it, what
	// the repository's HEAD names.
	Ref string `yaml:"ref"`
	// Include are the globs of catalog files; default catalog-info.yaml and
	// catalog-info.yml in every folder.
	Include []string `yaml:"include"`
	// WebURL is the repository's page, which annotations and facts name it
	// by; default what URL suggests.
	WebURL string `yaml:"webURL"`
	// Forge is the software behind WebURL: github, gitlab or gitea; default
	// what the host's name suggests, else the form that GitHub uses.
	Forge string `yaml:"forge"`
	// Credentials are what a remote repository asks for.
	Credentials Credentials `yaml:"credentials"`
	// Limits bound what reading the repository may cost.
	Limits Limits `yaml:"limits"`
}

// Credentials say where the secrets of a repository are found; they are read
// anew for each use, so that they may be rotated.
type Credentials struct {
	// Username goes with the token; default "git", which forges accept with
	// any access token.
	Username string `yaml:"username"`
	// TokenFile is a file that holds a token or password, relative to the
	// configuration's folder.
	TokenFile string `yaml:"tokenFile"`
	// TokenEnv is an environment variable that holds it instead.
	TokenEnv string `yaml:"tokenEnv"`
	// SSHKeyFile is a private key without a passphrase, for ssh.
	SSHKeyFile string `yaml:"sshKeyFile"`
	// KnownHostsFile lists the host keys that are trusted; default those of
	// the user that Fairlead runs as.
	KnownHostsFile string `yaml:"knownHostsFile"`
}

// Limits bound what reading a repository may cost; zero values mean the
// defaults.
type Limits struct {
	// Timeout of one look or fetch; default 30s.
	Timeout time.Duration `yaml:"timeout"`
	// DiskBytes that one revision may take on disk; default 1 GiB.
	DiskBytes int64 `yaml:"diskBytes"`
	// FileBytes of one file; default 1 MiB. Larger files are not read.
	FileBytes int64 `yaml:"fileBytes"`
	// Files and folders of one revision; default 1,000,000.
	Files int64 `yaml:"files"`
}

// The defaults of Limits.
const (
	DefaultTimeout         = 30 * time.Second
	DefaultDiskBytes int64 = 1 << 30
	DefaultFileBytes int64 = 1 << 20
	DefaultFiles     int64 = 1_000_000
)

// withDefaults fills in what is not set.
func (l Limits) withDefaults() Limits {
	if l.Timeout == 0 {
		l.Timeout = DefaultTimeout
	}
	if l.DiskBytes == 0 {
		l.DiskBytes = DefaultDiskBytes
	}
	if l.FileBytes == 0 {
		l.FileBytes = DefaultFileBytes
	}
	if l.Files == 0 {
		l.Files = DefaultFiles
	}
	return l
}

// Problem is one thing wrong with a SourceConfig.
type Problem struct {
	// Field is the key below git, for example credentials.tokenFile.
	Field string
	// Message says what is wrong and what to write.
	Message string
}

// problems gathers what Validate finds.
type problems []Problem

func (p *problems) add(field, format string, args ...any) {
	*p = append(*p, Problem{Field: field, Message: fmt.Sprintf(format, args...)})
}

// Validate tells everything that is wrong with the section. It looks at no
// file and no network.
func (c *SourceConfig) Validate() []Problem {
	var ps problems
	at, err := parseAddress(c.URL)
	switch {
	case c.URL == "":
		ps.add("url", "the repository's URL or path is missing")
	case err != nil:
		ps.add("url", "%v", err)
	}
	if c.Ref != "" && !safeRef(c.Ref) {
		ps.add("ref", "%q is no name of a branch, tag or commit", c.Ref)
	}
	for i, glob := range c.Include {
		if glob == "" || !doublestar.ValidatePattern(glob) || strings.HasPrefix(glob, "/") {
			ps.add(fmt.Sprintf("include[%d]", i), "%q is no glob; write for example **/catalog-info.yaml, relative to the repository's root", glob)
		}
	}
	if c.WebURL != "" && !webURL(c.WebURL) {
		ps.add("webURL", "%q is no http or https URL without credentials", withoutCredentials(c.WebURL))
	}
	switch c.Forge {
	case "", forgeGitHub, forgeGitLab, forgeGitea:
	default:
		ps.add("forge", "%q is none of github, gitlab, gitea", c.Forge)
	}
	c.Credentials.validate(&ps, at)
	c.Limits.validate(&ps)
	return ps
}

func (c *Credentials) validate(ps *problems, at address) {
	if c.TokenFile != "" && c.TokenEnv != "" {
		ps.add("credentials", "name tokenFile or tokenEnv, and not both")
	}
	token := c.TokenFile != "" || c.TokenEnv != ""
	switch at.kind {
	case overHTTP:
		if c.SSHKeyFile != "" {
			ps.add("credentials.sshKeyFile", "the URL is not one of ssh; use tokenFile or tokenEnv")
		}
		if at.insecure() && token {
			ps.add("url", "a token would travel unencrypted; use https")
		}
	case overSSH:
		if token {
			ps.add("credentials", "the URL is one of ssh; use sshKeyFile in the place of a token")
		}
		if c.SSHKeyFile == "" {
			ps.add("credentials.sshKeyFile", "ssh needs a private key")
		}
	case onDisk:
		if token || c.SSHKeyFile != "" {
			ps.add("credentials", "a repository on disk takes no credentials")
		}
	}
}

func (l *Limits) validate(ps *problems) {
	if l.Timeout < 0 {
		ps.add("limits.timeout", "%s is less than nothing", l.Timeout)
	}
	for _, n := range []struct {
		field string
		value int64
	}{{"limits.diskBytes", l.DiskBytes}, {"limits.fileBytes", l.FileBytes}, {"limits.files", l.Files}} {
		if n.value < 0 {
			ps.add(n.field, "%d is less than nothing", n.value)
		}
	}
}

// DefaultInclude are the globs of catalog files where none are configured.
func DefaultInclude() []string { return []string{"**/catalog-info.yaml", "**/catalog-info.yml"} }

// token reads the token; "" where none is configured.
func (c *Credentials) token() (string, error) {
	switch {
	case c.TokenEnv != "":
		if v := strings.TrimSpace(os.Getenv(c.TokenEnv)); v != "" {
			return v, nil
		}
		return "", fmt.Errorf("the environment variable %s, which should hold the token, is empty", c.TokenEnv)
	case c.TokenFile != "":
		data, err := readSmall(c.TokenFile)
		if err != nil {
			return "", fmt.Errorf("the token file %s cannot be read", c.TokenFile)
		}
		if v := strings.TrimSpace(string(data)); v != "" {
			return v, nil
		}
		return "", fmt.Errorf("the token file %s is empty", c.TokenFile)
	default:
		return "", nil
	}
}

func relativeTo(base, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}
