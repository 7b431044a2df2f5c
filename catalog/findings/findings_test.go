package findings_test

import (
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/findings"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/catalog/ingest/ingesttest"
	"github.com/fairlead-dev/fairlead/internal/keep"
)

// source is a repository in memory that is followed by hand.
type source struct {
	t testing.TB
	*ingesttest.Memory
}

func newSource(t testing.TB, name string, files map[string]string) source {
	t.Helper()
	m := ingesttest.NewMemory(name, "https://git.example.test/acme/"+name+"/")
	m.Write(files)
	return source{t, m}
}

func (s source) follow(f *findings.Findings) {
	s.t.Helper()
	rev, err := s.Observe(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	tree, err := s.Open(s.t.Context(), rev)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = tree.Close() }() // it was only read
	changes, _, err := tree.Changes(s.t.Context(), "")
	if err != nil {
		s.t.Fatal(err)
	}
	files := map[string]string{}
	for _, c := range changes {
		files[c.Path] = c.ID
	}
	d := s.Describe()
	d.Repository = "https://git.example.test/acme/" + d.Name
	if err := f.Follow(s.t.Context(), ingest.View{Source: d, Revision: rev, Files: files, Tree: tree}); err != nil {
		s.t.Fatal(err)
	}
}

// Findings follow a repository, read what changed alone, are found by source,
// URL and the services that they name, and survive a restart.
func TestFindings(t *testing.T) {
	dir := t.TempDir()
	kept, err := keep.OpenFindings(dir)
	if err != nil {
		t.Fatal(err)
	}
	f := findings.New(kept)
	pay := newSource(t, "pay", map[string]string{"Makefile": "test:\n\tgo test ./...\n", "AGENTS.md": "- Test: `make test`\n- Run `./scripts/dev.sh`.\n", "scripts/dev.sh": "#!/bin/sh\n", "main.go": "package main\n"})
	deploy := newSource(t, "deploy", map[string]string{"apps/pay/overlays/prod/kustomization.yaml": "kind: Kustomization\n"})
	pay.follow(f)
	deploy.follow(f)
	reads := pay.Reads("Makefile")
	pay.Write(map[string]string{"AGENTS.md": "- Test: `make check`\n"})
	pay.follow(f)
	if pay.Reads("Makefile") != reads || pay.Reads("main.go") != 0 {
		t.Errorf("files that did not change or say nothing were read")
	}
	check := func(f *findings.Findings) {
		t.Helper()
		c := f.In("git@git.example.test:acme/pay.git").Commands("")
		if len(c) != 1 || c[0].Text != "make test" || len(c[0].Disagrees) != 1 {
			t.Errorf("commands: %+v", c)
		}
		if n := f.Naming("Pay"); len(n) != 1 || n[0].Source != "deploy" || len(n[0].Deployments("pay", false)) != 1 {
			t.Errorf("naming: %+v", n)
		}
		if f.Of("nowhere") != nil || f.In("https://git.example.test/acme/other") != nil || f.Followed(ingest.Description{Name: "nowhere"}) != "" {
			t.Error("something is known of a source that is not there")
		}
	}
	check(f)
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	if kept, err = keep.OpenFindings(dir); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = kept.Close() }() // the test ends with it
	again := findings.New(kept)
	if err := again.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(again)
	if again.Followed(pay.Describe()) == "" {
		t.Error("the revision is forgotten")
	}
	if err := again.Drop(t.Context(), "deploy"); err != nil {
		t.Fatal(err)
	}
	if again.Naming("pay") != nil {
		t.Error("a source that is gone is still named")
	}
}

// TestLimitIsFollowed reads what was too large once the limit of its source is
// raised, and no longer once it is lowered.
func TestLimitIsFollowed(t *testing.T) {
	f := findings.New(nil)
	pay := newSource(t, "pay", map[string]string{"Makefile": "test:\n\tgo test ./...\n" + strings.Repeat("# large\n", 100)})
	for _, limit := range []int64{500, 5000, 500} {
		pay.Limit(limit)
		if f.Followed(pay.Describe()) != "" {
			t.Errorf("with a limit of %d there is nothing to read", limit)
		}
		pay.follow(f)
		if got := len(f.Of("pay").Commands("")) > 0; got != (limit > 1000) || f.Followed(pay.Describe()) == "" {
			t.Errorf("of files of up to %d bytes something is found: %v", limit, got)
		}
	}
}
