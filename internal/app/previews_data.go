package app

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/previews/postgres"
	"github.com/fairlead-dev/fairlead/previews/redis"
)

// PreviewData are the servers where previews are given data of their own.
type PreviewData struct {
	// KeyFile holds what passwords are derived from, relative to the
	// configuration's folder. With the state in a directory it is made there if
	// it is left out; with several replicas all must have the same.
	KeyFile string `yaml:"keyFile"`
	// Postgres are PostgreSQL servers; the first is for those that name none.
	Postgres []postgres.Config `yaml:"postgres"`
	// Redis are Redis servers, likewise.
	Redis []redis.Config `yaml:"redis"`
}

// completeData fills in where the key is.
func (c *Config) completeData() {
	d := &c.Previews.Data
	if d.KeyFile != "" {
		d.KeyFile = c.path(d.KeyFile)
	} else if !isPostgres(c.State) {
		d.KeyFile = filepath.Join(c.State, "previews.key")
	}
	for i := range d.Postgres {
		d.Postgres[i] = d.Postgres[i].In(c.dir)
	}
	for i := range d.Redis {
		d.Redis[i] = d.Redis[i].In(c.dir)
	}
}

func (c *Config) checkData(k *checker) {
	d := &c.Previews.Data
	if d.any() && d.KeyFile == "" {
		k.add("previews.data", "with the state in PostgreSQL all replicas need the same keyFile; make one with: head -c 32 /dev/urandom | xxd -p -c 64 > previews.key")
	}
	names := map[string]bool{}
	once := func(at, kind, name string) {
		if names[kind+name] {
			k.add(at+".name", "%q is the name of another one already", name)
		}
		names[kind+name] = true
	}
	for i := range d.Postgres {
		at := fmt.Sprintf("previews.data.postgres[%d]", i)
		for _, p := range d.Postgres[i].Validate() {
			k.add(at+"."+p.Field, "%s", p.Message)
		}
		once(at, "postgres ", d.Postgres[i].Name)
	}
	for i := range d.Redis {
		at := fmt.Sprintf("previews.data.redis[%d]", i)
		for _, p := range d.Redis[i].Validate() {
			k.add(at+"."+p.Field, "%s", p.Message)
		}
		once(at, "redis ", d.Redis[i].Name)
	}
}

// any tells whether there is a server.
func (d *PreviewData) any() bool { return len(d.Postgres)+len(d.Redis) > 0 }

// previewData opens the servers where previews' data is made. They are asked
// when a preview first needs them.
func (a *App) previewData(files postgres.Files) ([]previews.DataServer, error) {
	cfg := a.cfg.Previews.Data
	if !cfg.any() {
		return nil, nil
	}
	key, err := previewKey(cfg.KeyFile, !isPostgres(a.cfg.State))
	if err != nil {
		return nil, err
	}
	var out []previews.DataServer
	for _, c := range cfg.Postgres {
		p, err := postgres.New(c, postgres.Options{Key: key, Files: files})
		if err != nil {
			return nil, err
		}
		a.closers = append(a.closers, p.Close)
		out = append(out, previews.DataServer{Kind: "postgres", Name: c.Name, Data: p})
	}
	for _, c := range cfg.Redis {
		p, err := redis.New(c, key)
		if err != nil {
			return nil, err
		}
		a.closers = append(a.closers, p.Close)
		out = append(out, previews.DataServer{Kind: "redis", Name: c.Name, Data: p})
	}
	return out, nil
}

// minKey is how long a key must be, in bytes.
const minKey = 32

// previewKey reads the key, or makes it if it may.
func previewKey(file string, mayMake bool) (access.Secret, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) && mayMake {
		if err = makeKey(file); err == nil {
			data, err = os.ReadFile(file)
		}
	}
	text := strings.TrimSpace(string(data))
	switch {
	case err != nil:
		return access.Secret{}, fault.New(fault.FailedPrecondition, "the key file %s of previews' data cannot be read", file).
			WithFix("Let the server's user read the file that previews.data.keyFile names.").Because(err)
	case len(text) < minKey:
		return access.Secret{}, fault.New(fault.FailedPrecondition, "the key file %s of previews' data holds less than %d characters", file, minKey).
			WithFix("Make one with: head -c 32 /dev/urandom | xxd -p -c 64 > %s", file)
	}
	return access.NewSecret(text), nil
}

// makeKey makes a key file, which appears whole or not at all; one that is
// there stays.
func makeKey(file string) error {
	random := make([]byte, minKey)
	_, _ = rand.Read(random) // it never fails
	part, err := os.CreateTemp(filepath.Dir(file), ".key-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(part.Name()) }() // the link is what stays
	_, err = part.WriteString(hex.EncodeToString(random) + "\n")
	if err = errors.Join(err, part.Sync(), part.Close()); err != nil {
		return err
	}
	if err = os.Link(part.Name(), file); errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// File gives a file of a commit of a repository that previews are of.
func (p *previewRepos) File(ctx context.Context, repository, commit, path string) ([]byte, error) {
	cfg, err := p.at(repository)
	if err != nil {
		return nil, err
	}
	src, err := p.open(cfg)
	if err != nil {
		return nil, err
	}
	return src.File(ctx, commit, path)
}
