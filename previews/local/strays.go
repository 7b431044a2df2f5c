package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
)

// placeOf tells folders of previews apart, in the names and marks of what is
// outside of them.
func placeOf(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:4])
}

func (d *Deployer) place() string { return placeOf(d.cfg.Dir) }

// Strays are the previews that known does not know and of which there are a
// folder, a port, control groups or processes. Nothing is changed.
func (d *Deployer) Strays(ctx context.Context, known func(id string) bool) ([]previews.Stray, error) {
	folders, err := d.folders()
	if err != nil {
		return nil, err
	}
	what := map[string][]string{}
	for _, id := range folders {
		what[id] = nil
	}
	for id, port := range d.portsTaken() {
		what[id] = append(what[id], "port "+itoa(port)+", which is reserved")
	}
	for id, dirs := range strayCages(d.place()) {
		for _, dir := range dirs {
			what[id] = append(what[id], "the control group "+dir)
		}
	}
	for id, ps := range strayProcesses(d.place()) {
		for _, p := range ps {
			what[id] = append(what[id], "process "+p.String())
		}
	}
	var out []previews.Stray
	for _, id := range slices.Sorted(maps.Keys(what)) {
		if known(id) {
			continue
		}
		s, err := d.stray(ctx, id, what[id])
		if err != nil {
			return nil, err
		}
		if len(s.What) > 0 { // else it has gone since
			out = append(out, s)
		}
	}
	return out, nil
}

// stray tells of one preview what its folder says, beside what was found of it.
func (d *Deployer) stray(ctx context.Context, id string, what []string) (previews.Stray, error) {
	s := previews.Stray{ID: id, What: what}
	f, err := d.folder(id)
	if err != nil {
		return s, err
	}
	info, err := os.Lstat(string(f))
	if err != nil {
		return s, ctx.Err()
	}
	p, st, _ := f.read()
	s.Wish, s.Since = p.Wish, info.ModTime()
	for _, it := range d.remains(f, p, st) {
		if !slices.Contains(s.What, it) {
			s.What = append(s.What, it)
		}
	}
	s.Bytes, err = diskUse(ctx, string(f))
	return s, err
}

// RemoveStray ends what there is of a preview and removes it, whether or not
// it has a folder.
func (d *Deployer) RemoveStray(ctx context.Context, id string) error {
	if err := d.Remove(ctx, previews.Wish{ID: id}); err != nil {
		return err
	}
	return broken0("removal", id, d.endStray(ctx, id))
}

// endStray ends what a preview without a folder has left.
func (d *Deployer) endStray(ctx context.Context, id string) error {
	for until := time.Now().Add(supervisorGrace); ; {
		dirs, ps := strayCages(d.place())[id], strayProcesses(d.place())[id]
		if len(ps) == 0 {
			openCages(dirs)
			if len(strayCages(d.place())[id]) == 0 {
				return nil
			}
		}
		killCages(dirs)
		names := make([]string, len(ps))
		for i, p := range ps {
			endProcess(p.pid, p.start, true)
			names[i] = p.String()
		}
		if time.Now().After(until) {
			return fault.New(fault.Unavailable, "preview %s has something that does not end: %s", id, strings.Join(append(names, dirs...), ", ")).
				WithFix("It is tried again by the next sweep; processes that wait for a device end when that answers.")
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
}

// folders are the ids of the previews that have a folder.
func (d *Deployer) folders() ([]string, error) {
	entries, err := os.ReadDir(d.cfg.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.New(fault.Unavailable, "the folder of previews %s cannot be read", d.cfg.Dir).WithFix("Let the user that Fairlead runs as read it.").Because(err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && label.MatchString(e.Name()) {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// portsTaken are the ports that are reserved, by preview.
func (d *Deployer) portsTaken() map[string]int {
	out := map[string]int{}
	entries, err := os.ReadDir(d.ports())
	if err != nil {
		return out
	}
	for _, e := range entries {
		id, err := os.Readlink(filepath.Join(d.ports(), e.Name()))
		if port := number(e.Name()); err == nil && port > 0 && label.MatchString(id) {
			out[id] = int(port)
		}
	}
	return out
}
