package local

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
)

// Remove ends every process and removes the folder. It returns when that is
// done, mostly well within the grace, or when the context ends:
// called again it goes on.
func (d *Deployer) Remove(ctx context.Context, w previews.Wish) error {
	f, err := d.folder(w.ID)
	if err != nil {
		return err
	}
	if !f.exists() {
		return broken0("giving back the port", w.ID, d.release(w.ID))
	}
	unlock, err := lockFolder(ctx, f, false)
	if errors.Is(err, fs.ErrNotExist) {
		return broken0("giving back the port", w.ID, d.release(w.ID))
	}
	if err != nil {
		return broken("locking the folder", w.ID, err)
	}
	defer unlock()
	return broken0("removal", w.ID, d.remove(ctx, f))
}

// remove removes a folder. The caller holds the lock.
func (d *Deployer) remove(ctx context.Context, f folder) error {
	p, known, err := f.plan()
	if err == nil && known && !p.Removing {
		p.Removing = true
		if err := f.savePlan(p); err != nil {
			return err
		}
	}
	if err := d.halt(ctx, f, p); err != nil {
		return err
	}
	for _, dir := range []string{f.tree(), f.tmp(), string(f)} {
		if err := removeTree(dir); err != nil {
			return err
		}
	}
	d.disks.forget(f.id())
	return d.release(f.id())
}

// halt ends every process of a preview: those of its supervisor by the
// supervisor, the others by what they carry.
func (d *Deployer) halt(ctx context.Context, f folder, p plan) error {
	grace := p.Config.Grace
	if grace == 0 {
		grace = d.cfg.Grace
	}
	killAt := time.Now().Add(grace + 3*supervisorGrace) // it is the best at ending what it has started
	asked := 0
	for alive(f) {
		s, err := f.state()
		if err == nil && s.PID != 0 && s.PID != asked && endProcess(s.PID, s.Start, false) {
			asked = s.PID
		}
		if err == nil && time.Now().After(killAt) {
			endProcess(s.PID, s.Start, true)
		}
		if time.Now().After(killAt.Add(supervisorGrace)) {
			return fault.New(fault.Unavailable, "the supervisor of preview %s, process %d, does not end", f.id(), s.PID).
				WithFix("It is tried again; if it stays, end the process by hand.")
		}
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
	return endLeftovers(ctx, f, p.Mark)
}

// supervisorGrace is how long killing may take once the grace is over.
const supervisorGrace = 5 * time.Second

// endLeftovers kills what a supervisor that was killed has left.
func endLeftovers(ctx context.Context, f folder, mark string) error {
	s, err := f.state()
	if err != nil {
		s = state{}
	}
	until := time.Now().Add(supervisorGrace)
	for {
		left := leftovers(f, mark, s)
		if len(left) == 0 {
			openCages(s.Cages)
			return nil
		}
		killCages(s.Cages)
		killGroups(left)
		names := make([]string, len(left))
		for i, l := range left {
			endProcess(l.pid, l.start, true)
			names[i] = l.String()
		}
		if time.Now().After(until) {
			return fault.New(fault.Unavailable, "preview %s has processes that do not end: %s", f.id(), strings.Join(names, ", ")).
				WithFix("It is tried again; processes that wait for a device end when that answers.")
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// diskUse adds up the files below a folder; those that vanish meanwhile or
// cannot be looked at count nothing.
func diskUse(ctx context.Context, dir string) (int64, error) {
	var sum int64
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e == nil {
			return ctx.Err()
		}
		if info, err := e.Info(); err == nil {
			sum += onDisk(info)
		}
		return ctx.Err()
	})
	return sum, err
}
