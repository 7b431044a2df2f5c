package client

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// maxLogins is the size in bytes beyond which a file is none of ours.
const maxLogins = 1 << 20

// Logins is what `fairlead login` notes: the server to talk to, and a token
// for each server that was logged in to.
type Logins struct {
	Server string  `yaml:"server"`
	Logins []Login `yaml:"logins"`
	// Exposed tells that others than its owner may read the file.
	Exposed bool `yaml:"-"`
}

// Login is a token for one server.
type Login struct {
	Server string `yaml:"server"`
	Token  string `yaml:"token"`
}

// LoginsPath is the file that keeps logins, in the user's configuration
// folder.
func LoginsPath() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fault.New(fault.Invalid, "there is no configuration folder: neither XDG_CONFIG_HOME nor HOME is set").
			WithFix("Set HOME, or use --server and --token-file.").Because(err)
	}
	return filepath.Join(dir, "fairlead", "config.yaml"), nil
}

// LoadLogins reads the file; one that is not there holds nothing.
func LoadLogins(path string) (*Logins, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Logins{}, nil
	}
	broken := fault.New(fault.Invalid, "the logins in %s cannot be read", path).WithFix("Put the file right, or remove it and run `fairlead login` again.")
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxLogins {
		return nil, broken.Because(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, broken.Because(err)
	}
	l := &Logins{Exposed: info.Mode().Perm()&0o077 != 0}
	if err := yaml.Unmarshal(data, l); err != nil {
		return nil, broken.Because(err)
	}
	return l, nil
}

// Token is the token for a server, "" if there is none.
func (l *Logins) Token(server string) string {
	for _, in := range l.Logins {
		if clean, err := CleanServer(in.Server); err == nil && clean == server {
			return in.Token
		}
	}
	return ""
}

// Set notes a token for a server and makes it the one to talk to.
func (l *Logins) Set(server, token string) {
	l.Server = server
	for i := range l.Logins {
		if clean, err := CleanServer(l.Logins[i].Server); err == nil && clean == server {
			l.Logins[i].Token = token
			return
		}
	}
	l.Logins = append(l.Logins, Login{Server: server, Token: token})
}

// Save writes the file whole or not at all, readable by its owner alone.
func (l *Logins) Save(path string) error {
	data, err := yaml.Marshal(l)
	if err != nil {
		return fault.New(fault.Internal, "the logins could not be written").Because(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return unwritable(path, err)
	}
	return writeSecret(path, data)
}

func writeSecret(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".config-*")
	if err != nil {
		return unwritable(path, err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already where all went well
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return unwritable(path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return unwritable(path, err)
	}
	return nil
}

func unwritable(path string, err error) error {
	return fault.New(fault.Invalid, "%s cannot be written", path).WithFix("Let yourself write there, or set XDG_CONFIG_HOME to another folder.").Because(err)
}
