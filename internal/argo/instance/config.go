// Package instance is the configuration of Argo CD instances. It links no
// client, so that whoever reads configurations stays light.
package instance

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Config is one Argo CD that Fairlead talks to: an item of the section argocd.
type Config struct {
	// Name is what catalog files and previews call it.
	Name string `yaml:"name"`
	// Server is its host, with a port if that is not 443.
	Server string `yaml:"server"`
	// TokenFile is a file that holds the API token of an account, TokenEnv an
	// environment variable that does. It is read anew for each request.
	TokenFile string `yaml:"tokenFile"`
	TokenEnv  string `yaml:"tokenEnv"`
	// CAFile holds further certificates, PEM, that its own may be signed by.
	CAFile string `yaml:"caFile"`
	// Insecure takes any certificate, and lets Plaintext be said of another
	// machine.
	Insecure bool `yaml:"insecure"`
	// Plaintext speaks without TLS: the token can be read on the way.
	Plaintext bool `yaml:"plaintext"`
	// KubeconfigFile gives access to the cluster that previews run in, to
	// prove that namespaces are absent; without it Argo CD's word is taken.
	KubeconfigFile string `yaml:"kubeconfigFile"`
	// Project is the AppProject of previews there, unless a deployer or a
	// service names another.
	Project string `yaml:"project"`
}

// Problem is one thing wrong with a Config.
type Problem struct {
	// Field is the key, for example tokenFile.
	Field string
	// Message says what is wrong and what to write.
	Message string
}

// name is what an instance may be called.
var name = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9._-]{0,61}[a-zA-Z0-9])?$`)

// Validate tells everything that is wrong with it. It looks at no file.
func (c *Config) Validate() []Problem {
	var ps []Problem
	add := func(field, format string, args ...any) {
		ps = append(ps, Problem{field, fmt.Sprintf(format, args...)})
	}
	if !name.MatchString(c.Name) {
		add("name", "%q is no name for an Argo CD; use letters, digits, dots and hyphens", c.Name)
	}
	switch {
	case c.Server == "":
		add("server", "the host of Argo CD's API is missing; write for example argocd.example.com")
	case strings.Contains(c.Server, "://"), strings.ContainsAny(c.Server, "/@? \t"):
		add("server", "%q is no host; write for example argocd.example.com or argocd.example.com:8443, without scheme and path", c.Server)
	case c.Plaintext && !loopback(c.Server) && !c.Insecure:
		add("plaintext", "the token could be read on the way to %s; use TLS, or say insecure: true, too, if the way is safe", c.Server)
	}
	switch {
	case c.TokenFile != "" && c.TokenEnv != "":
		add("tokenFile", "name tokenFile or tokenEnv, and not both")
	case c.TokenFile == "" && c.TokenEnv == "":
		add("tokenFile", "the token is missing; name a file that holds it by tokenFile, or an environment variable by tokenEnv")
	}
	if c.CAFile != "" && (c.Plaintext || c.Insecure) {
		add("caFile", "no certificate is checked with plaintext or insecure; remove one of them")
	}
	if c.Project != "" && !name.MatchString(c.Project) {
		add("project", "%q is no name of an AppProject", c.Project)
	}
	return ps
}

// In resolves relative files against the configuration's folder.
func (c *Config) In(dir string) {
	for _, f := range []*string{&c.TokenFile, &c.CAFile, &c.KubeconfigFile} {
		if *f != "" && !filepath.IsAbs(*f) {
			*f = filepath.Join(dir, *f)
		}
	}
}

// Address is host and port of the server.
func (c *Config) Address() string {
	if _, _, err := net.SplitHostPort(c.Server); err == nil {
		return c.Server
	}
	return net.JoinHostPort(strings.Trim(c.Server, "[]"), "443")
}

// URL is where people see the instance.
func (c *Config) URL() string {
	if c.Plaintext {
		return "http://" + c.Server
	}
	return "https://" + c.Server
}

// loopback tells whether a host is this machine.
func loopback(server string) bool {
	host, _, err := net.SplitHostPort(server)
	if err != nil {
		host = strings.Trim(server, "[]")
	}
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// maxToken is the size in bytes of the largest token.
const maxToken = 64 << 10

// Token reads the token. Errors say where it should be and nothing of what is
// there.
func (c *Config) Token() (string, error) {
	where, text := "the environment variable "+c.TokenEnv, os.Getenv(c.TokenEnv)
	if c.TokenFile != "" {
		where = "the token file " + c.TokenFile
		var err error
		if text, err = readSecret(c.TokenFile); err != nil {
			return "", fmt.Errorf("%s cannot be read", where)
		}
	}
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "", fmt.Errorf("%s does not hold one token alone", where)
	}
	return text, nil
}

func readSecret(file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxToken {
		return "", fs.ErrInvalid
	}
	data, err := os.ReadFile(file)
	return string(data), err
}
