package findings_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/findings"
	"github.com/fairlead-dev/fairlead/internal/keep"
)

// Scripts are read that something calls, and only then; of them no secret is
// kept.
func TestScriptsAreFollowed(t *testing.T) {
	dir := t.TempDir()
	kept, err := keep.OpenFindings(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = kept.Close() }() // the test ends with it
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	f := findings.New(kept)
	pay := newSource(t, "pay", map[string]string{
		".github/workflows/ci.yml": "on: push\njobs: {a: {steps: [{run: ./scripts/test.sh}]}}\n", "AGENTS.md": "Test with `go test ./...`.\n",
		"scripts/test.sh": "#!/bin/sh\nexec ./scripts/unit.sh\n", "scripts/unit.sh": "#!/bin/sh\ngo test ./... -args -token=" + secret + "\n", "scripts/other.sh": "#!/bin/sh\n",
	})
	pay.follow(f)
	if c := f.Of("pay").Commands("")[0]; c.Text != "./scripts/test.sh" || len(c.Disagrees) != 0 {
		t.Errorf("the command is %+v", c)
	}
	pay.Write(map[string]string{"AGENTS.md": "Test with `go test ./...`!\n"})
	pay.follow(f)
	for at, want := range map[string]int{"scripts/test.sh": 1, "scripts/unit.sh": 1, "scripts/other.sh": 0} {
		if n := pay.Reads(at); n != want {
			t.Errorf("%s was read %d times", at, n)
		}
	}
	pay.Write(map[string]string{"scripts/unit.sh": "#!/bin/sh\npytest -k " + secret + "\n"})
	pay.follow(f)
	if c := f.Of("pay").Commands("")[0]; len(c.Disagrees) != 1 || c.Disagrees[0] != "AGENTS.md:1 says `go test ./...`" {
		t.Errorf("the command is %+v", c)
	}
	if said, err := json.Marshal(f.Of("pay").Readings()); err != nil || bytes.Contains(said, []byte(secret)) || !bytes.Contains(said, []byte("pytest -k")) {
		t.Errorf("what is kept: %s, %v", said, err)
	}
	again := findings.New(kept)
	if err := again.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c := again.Of("pay").Commands("")[0]; len(c.Disagrees) != 1 {
		t.Errorf("after a restart the command is %+v", c)
	}
	pay.Write(map[string]string{"scripts/test.sh": ""}) // removes it
	pay.follow(f)
	if c := f.Of("pay").Commands("")[0]; c.Text != "go test ./..." || len(c.Disagrees) != 1 {
		t.Errorf("the command is %+v", c)
	}
}
