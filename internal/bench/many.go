package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The sizes of the part "Many repositories".
const (
	manyFiles = 60_000
	fileSize  = 2400      // bytes of each of the many files
	blobSize  = 512 << 20 // bytes of the one large file
)

// owner owns all repositories of the forge.
const owner = "acme"

// fleet is a company each of whose components has a repository; one more
// describes its people and systems.
type fleet struct {
	*company
	entities int
	names    []string // of all repositories
	bares    []*bare  // of the components
}

// newFleet makes the repositories below root.
func newFleet(ctx context.Context, root string, n int) (*fleet, error) {
	f := &fleet{company: newCompany(n - 1)}
	// In the place of the files that only lead to others there is one.
	f.entities = f.company.entities - len(f.teams)
	s, err := newShared(ctx, filepath.Join(root, "shared.git"))
	if err != nil {
		return nil, err
	}
	for i, c := range f.components {
		b, err := newBare(filepath.Join(root, owner, c.name+".git"), s, f.files[f.file(i)])
		if err != nil {
			return nil, err
		}
		f.bares, f.names = append(f.bares, b), append(f.names, c.name)
	}
	d := &documents{}
	d.location("handbook", words("./org/people.yaml ./landscape/domains.yaml ./systems/all.yaml"))
	files := []file{text(catalogFile, d.String())}
	for path, content := range f.files {
		if !strings.HasPrefix(path, "repos/") && path != "all.yaml" {
			files = append(files, text(path, content))
		}
	}
	f.names = append(f.names, "handbook")
	return f, imported(ctx, filepath.Join(root, owner, "handbook.git"), true, files)
}

// change gives a component another description.
func (f *fleet) change(i int, description string) error {
	path := f.file(i)
	before, after, _ := strings.Cut(f.files[path], "  description: ")
	_, after, _ = strings.Cut(after, "\n")
	f.files[path] = before + fmt.Sprintf("  description: %q\n", description) + after
	return f.bares[i].commit(f.files[path])
}

// many measures what it takes to follow many repositories, and large ones.
func (s settings) many(ctx context.Context, r report, dir string) error {
	start := time.Now()
	root := filepath.Join(dir, "forge")
	f, err := newFleet(ctx, root, s.repositories)
	if err != nil {
		return err
	}
	if err := s.giants(ctx, root); err != nil {
		return err
	}
	r.section("Many repositories, over HTTP from a process of its own: %d, one of %d files, some with one of 512 MiB (made in %s)",
		len(f.names), manyFiles, seconds(time.Since(start)))
	url, stop, err := startForge(ctx, root)
	if err != nil {
		return err
	}
	err = s.manyParts(ctx, r, dir, url, f)
	return errors.Join(err, stop())
}

func (s settings) manyParts(ctx context.Context, r report, dir, url string, f *fleet) error {
	if err := s.swept(ctx, r, dir, url, f); err != nil {
		return err
	}
	if err := s.large(ctx, r, dir, url); err != nil || s.server == "" {
		return err
	}
	return s.hooked(ctx, r, filepath.Join(dir, "many-server"), url, f)
}

// swept measures the first reading and sweeps.
func (s settings) swept(ctx context.Context, r report, dir, url string, f *fleet) error {
	res := &sweeps{}
	t := sweepsTask{URL: url, Names: f.names, State: filepath.Join(dir, "many-state"), Sweeps: s.sweeps, Profile: s.profileOf("many")}
	if err := (task{Sweeps: &t}).apart(ctx, res); err != nil {
		return err
	}
	if res.Entities != f.entities {
		return fmt.Errorf("%d entities of %d came through", res.Entities, f.entities)
	}
	r.line("first reading of all, wall / CPU", fmt.Sprintf("%s, %d requests", res.First, res.First.Asked), "30 s")
	r.line("a sweep with nothing changed, wall / CPU", res.ByGit.String(), "5 s / 1 s")
	r.line(fmt.Sprintf("%d more, the server listing refs by itself, median", len(res.All)), medianOf(res.All).String(), "5 s / 1 s")
	var held []string
	for _, n := range res.Resident {
		held = append(held, megabytes(n))
	}
	r.line("resident after 1 / 10 / 100 of them", strings.Join(held, " / "), "flat")
	r.line("heap held in the end", megabytes(res.Heap), "")
	return nil
}

func (s spent) String() string { return seconds(s.Wall) + " / " + seconds(s.CPU) }

// medianOf is the middle of the times and of the CPU times.
func medianOf(all []spent) spent {
	if len(all) == 0 {
		return spent{}
	}
	var wall, cpu []time.Duration
	for _, s := range all {
		wall, cpu = append(wall, s.Wall), append(cpu, s.CPU)
	}
	slices.Sort(wall)
	slices.Sort(cpu)
	return spent{Wall: wall[len(wall)/2], CPU: cpu[len(cpu)/2]}
}

func (s settings) profileOf(name string) string {
	if s.profiles == "" {
		return ""
	}
	return filepath.Join(s.profiles, name)
}

// giants makes the repositories that are large, owned by another so that the
// forge's lists lack them.
func (s settings) giants(ctx context.Context, root string) error {
	noise := rand.NewChaCha8([32]byte{1})
	forest := []file{text(catalogFile, component("root", "One of many files"))}
	for i := range manyFiles - 1 {
		path := fmt.Sprintf("src/part-%02d/folder-%02d/file-%d.go", i/3000, i/100%30, i)
		if i%6000 == 1 {
			at := fmt.Sprintf("src/part-%02d/%s", i/3000, catalogFile)
			forest = append(forest, text(at, component(fmt.Sprintf("part-%d", i/3000), "In the midst of them")))
			continue
		}
		forest = append(forest, file{path, fileSize, io.LimitReader(noise, fileSize)})
	}
	if err := imported(ctx, filepath.Join(root, "giants", "forest.git"), true, forest); err != nil {
		return err
	}
	for _, r := range blobRepositories() {
		files := []file{text(catalogFile, component("root", "Beside it there may be a large file")), text("README.md", "# Read me\n")}
		if r.large {
			files = append(files, file{"model.bin", blobSize, io.LimitReader(noise, blobSize)})
		}
		if err := imported(ctx, filepath.Join(root, "giants", r.name()+".git"), r.filters, files); err != nil {
			return err
		}
	}
	return nil
}

// blobRepository is one of the repositories that show what a large file costs.
type blobRepository struct{ filters, large bool }

func (b blobRepository) name() string { return fmt.Sprintf("blob-%t-%t", b.filters, b.large) }

func blobRepositories() []blobRepository {
	return []blobRepository{{true, false}, {true, true}, {false, false}, {false, true}}
}

// large measures what large repositories cost.
func (s settings) large(ctx context.Context, r report, dir, url string) error {
	read := func(name, repo string) (*reading, error) {
		res := &reading{}
		t := readingTask{URL: url + "/giants/" + name, State: filepath.Join(dir, "state-"+name), Dir: repo, Profile: s.profileOf(name)}
		return res, task{Reading: &t}.apart(ctx, res)
	}
	forest, err := read("forest", filepath.Join(dir, "forge", "giants", "forest.git"))
	if err != nil {
		return err
	}
	r.line(fmt.Sprintf("first reading of %d files, wall / CPU", manyFiles), forest.First.String()+", "+megabytes(forest.Fetched)+" fetched", "2 s")
	r.line("a change in it is seen after, wall / CPU", forest.Again.String(), "1 s")
	r.line("resident at most meanwhile", megabytes(forest.Peak), "")
	peaks := map[blobRepository]*reading{}
	for _, b := range blobRepositories() {
		if peaks[b], err = read(b.name(), ""); err != nil {
			return err
		}
	}
	for _, filters := range []bool{true, false} {
		with, without := peaks[blobRepository{filters, true}], peaks[blobRepository{filters, false}]
		name := "a file of 512 MiB adds at most, resident"
		if !filters {
			name = "the same where the server knows no filters"
		}
		r.line(name, megabytes(with.Peak-without.Peak)+", "+seconds(with.First.Wall)+", "+megabytes(with.Fetched)+" fetched", "64 MB")
	}
	return nil
}
