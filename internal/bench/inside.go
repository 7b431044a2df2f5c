package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strconv"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/git"
	"github.com/fairlead-dev/fairlead/internal/heap"
	"github.com/fairlead-dev/fairlead/internal/keep"
)

// inside is what is measured of the catalog alone, in a process of its own.
type inside struct {
	Entities int
	// Wall and CPU are what it took until all was queryable, Whole the CPU
	// time until all was kept as well.
	Wall, CPU, Whole time.Duration
	// Heap, Resident and Peak are in bytes: what the catalog holds after a
	// collection, how much the process then has and had at most.
	Heap, Resident, Peak int64
	Edits                []time.Duration
}

// job is one measurement, done by this program started again.
type job struct {
	Repository string
	State      string
	Components int
	Edits      int
	Profile    string // the beginning of the names of profiles; "" for none
}

// apart does a job in a process of its own, whose memory nothing else uses.
func apart(ctx context.Context, j job) (*inside, error) {
	res := &inside{}
	return res, task{Catalog: &j}.apart(ctx, res)
}

// do is a job in the process that apart started.
func (j job) do(ctx context.Context) error {
	p, err := j.open()
	if err != nil {
		return err
	}
	defer p.keeper.Close()
	before := held()
	res := &inside{}
	started := heap.Start()
	if err := j.start(ctx, p, res); err != nil {
		return err
	}
	res.Heap = held() - before
	started()
	if res.Resident, res.Peak, err = settled(ctx, os.Getpid()); err != nil {
		return err
	}
	if err := j.heapProfile(); err != nil {
		return err
	}
	if err := j.edit(ctx, p, res); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(res)
}

// parts are the catalog and what fills it.
type parts struct {
	keeper   *keep.Keeper
	catalog  *catalog.Service
	ingester *ingest.Ingester
	seen     func() // called when changes have become visible
}

func (p *parts) publish(changes []index.Change) {
	p.catalog.Publish(changes)
	p.seen()
}

const sourceName = "bench"

func (j job) open() (*parts, error) {
	p := &parts{seen: func() {}}
	var err error
	if p.keeper, err = keep.Open(j.State); err != nil {
		return nil, err
	}
	src, err := git.NewSource(sourceName, git.SourceConfig{URL: j.Repository, Include: []string{"all.yaml"}}, filepath.Join(j.State, "git"), ".", git.NewLimiter(4))
	if err != nil {
		return nil, err
	}
	if p.catalog, err = catalog.New(catalog.Config{Policy: access.DefaultPolicy()}); err != nil {
		return nil, err
	}
	p.ingester = ingest.New(ingest.Config{Sources: []ingest.Source{src}, Processor: descriptor.New(descriptor.Options{Template: true}),
		Publish: p.publish, Keeper: p.keeper, Fingerprint: "bench"})
	return p, nil
}

// start brings the catalog up, from what was kept or from the repository.
func (j job) start(ctx context.Context, p *parts, res *inside) error {
	stop, err := j.cpuProfile()
	if err != nil {
		return err
	}
	defer stop()
	cpu, err := cpuOf(os.Getpid())
	if err != nil {
		return err
	}
	start := time.Now()
	p.seen = func() {
		res.Wall, res.Entities = time.Since(start), p.catalog.Snapshot().Len()
		if after, err := cpuOf(os.Getpid()); err == nil {
			res.CPU = after - cpu
		}
	}
	defer func() { p.seen = func() {} }()
	if err := p.ingester.Restore(ctx); err != nil {
		return err
	}
	if res.Entities == 0 {
		if _, err := p.ingester.Refresh(ctx, sourceName); err != nil {
			return err
		}
	}
	after, err := cpuOf(os.Getpid())
	res.Whole = after - cpu
	return err
}

// edit times how long changes take from the call that reads them to where
// they are seen.
func (j job) edit(ctx context.Context, p *parts, res *inside) error {
	if j.Edits == 0 {
		return nil
	}
	repo := &repository{company: newCompany(j.Components), dir: j.Repository, label: "the catalog alone at " + strconv.FormatInt(time.Now().UnixNano(), 36)}
	all := access.DefaultPolicy().Scope(accesstest.As("user:default/bench"), access.ReadCatalog)
	for range j.Edits {
		ref, description, err := repo.edit(ctx)
		if err != nil {
			return err
		}
		start := time.Now()
		if _, err := p.ingester.Refresh(ctx, sourceName); err != nil {
			return err
		}
		e := p.catalog.Snapshot().Get(all, ref)
		res.Edits = append(res.Edits, time.Since(start))
		if e == nil || e.Description() != description {
			return fmt.Errorf("the change of %s is not there", ref)
		}
	}
	return nil
}

// held is how much of the heap is in use once garbage is gone.
func held() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // no heap is that large
}

func (j job) cpuProfile() (stop func(), err error) {
	if j.Profile == "" {
		return func() {}, nil
	}
	f, err := os.Create(j.Profile + ".cpu")
	if err != nil {
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); f.Close() }, pprof.StartCPUProfile(f)
}

func (j job) heapProfile() error {
	if j.Profile == "" {
		return nil
	}
	f, err := os.Create(j.Profile + ".heap")
	if err != nil {
		return err
	}
	defer f.Close()
	return pprof.Lookup("heap").WriteTo(f, 0)
}
