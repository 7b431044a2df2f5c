package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/git"
	"github.com/fairlead-dev/fairlead/internal/keep"
)

// readingTask is to read one repository for the first time.
type readingTask struct {
	URL   string // of the repository
	State string
	// Dir is the repository's own folder: a file in it is changed, and read
	// again. "" changes nothing.
	Dir     string
	Profile string // the beginning of the names of profiles; "" for none
}

// reading is what came of a readingTask.
type reading struct {
	Entities   int
	First      spent
	Again      spent
	Fetched    int64 // bytes on disk after the first reading
	Peak, Rest int64 // bytes resident, at most and in the end
}

// do reads, and prints what came of it.
func (t readingTask) do(ctx context.Context) error {
	keeper, err := keep.Open(t.State)
	if err != nil {
		return err
	}
	defer keeper.Close()
	src, err := git.NewSource(sourceName, git.SourceConfig{URL: t.URL}, filepath.Join(t.State, "git"), ".", nil)
	if err != nil {
		return err
	}
	c, err := catalog.New(catalog.Config{Policy: access.DefaultPolicy()})
	if err != nil {
		return err
	}
	in := ingest.New(ingest.Config{Sources: []ingest.Source{src}, Processor: descriptor.New(descriptor.Options{Template: true}),
		Publish: c.Publish, Keeper: keeper, Fingerprint: "bench"})
	res := &reading{}
	profiled, err := profile(t.Profile, "first")
	if err != nil {
		return err
	}
	took := stopwatch()
	_, err = in.Refresh(ctx, sourceName)
	res.First, res.Entities = took(), c.Snapshot().Len()
	profiled()
	if err != nil {
		return err
	}
	if res.Fetched, err = sizeOf(filepath.Join(t.State, "git")); err != nil {
		return err
	}
	if res.Rest, res.Peak, err = residentOf(os.Getpid()); err != nil {
		return err
	}
	if t.Dir != "" {
		if err := t.again(ctx, in, res); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(res)
}

// again changes one catalog file and reads that.
func (t readingTask) again(ctx context.Context, in *ingest.Ingester, res *reading) error {
	if err := imported(ctx, t.Dir, true, []file{text(catalogFile, component("root", "Another text"))}); err != nil {
		return err
	}
	took := stopwatch()
	changed, err := in.Refresh(ctx, sourceName)
	res.Again = took()
	if err == nil && changed.Changed != 1 {
		err = fmt.Errorf("the change made %d entities change", changed.Changed)
	}
	return err
}

// sizeOf is how many bytes the files below a folder hold.
func sizeOf(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	return n, err
}

// component is a catalog file of one component.
func component(name, description string) string {
	return fmt.Sprintf("apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata:\n  name: %s\n  description: %s\nspec:\n  type: service\n  lifecycle: production\n  owner: platform\n", name, description)
}
