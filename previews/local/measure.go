package local

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/previews"
)

// Measure tells what a preview takes: by its control groups where there are
// some, else by its processes. What its files take is as old as it needs to be
// for measuring to cost a hundredth of the time at most.
func (d *Deployer) Measure(ctx context.Context, w previews.Wish) (r previews.Resources, ok bool, err error) {
	f, err := d.folder(w.ID)
	if err != nil || !f.exists() {
		return r, false, err
	}
	p, s, complete := f.read()
	if !complete || s.over() || !alive(f) {
		return r, false, ctx.Err()
	}
	r = consumption(p, s)
	r.At = time.Now().UTC()
	r.DiskBytes, err = d.disks.of(ctx, f)
	return r, err == nil, err
}

// disks remembers what the files of previews take.
type disks struct {
	mu   sync.Mutex
	seen map[string]disk
}

type disk struct {
	bytes int64
	at    time.Time
	took  time.Duration
}

func (d *disks) of(ctx context.Context, f folder) (int64, error) {
	d.mu.Lock()
	last, ok := d.seen[f.id()]
	d.mu.Unlock()
	if ok && time.Since(last.at) < max(diskPause, diskShare*last.took) {
		return last.bytes, nil
	}
	began := time.Now()
	bytes, err := diskUse(ctx, string(f))
	if err != nil {
		return 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen == nil {
		d.seen = map[string]disk{}
	}
	d.seen[f.id()] = disk{bytes, time.Now(), time.Since(began)}
	return bytes, nil
}

func (d *disks) forget(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.seen, id)
}

// The pauses between looks at the disk: at least the first, and so long that
// looking takes a hundredth of the time at most.
const (
	diskPause = 2 * time.Second
	diskShare = 100
)
