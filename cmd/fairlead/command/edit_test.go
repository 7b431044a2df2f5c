package command_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestChangeEdit(t *testing.T) {
	const old = "# values\r\nimage: {repository: acme/checkout, tag: '1.2'} # keep\r\nreplicaCount: 1"
	const edited = "# values\r\nimage: {repository: acme/checkout, tag: '1.3'} # keep\r\nreplicaCount: 1"
	write := func(t *testing.T, text string) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), "values.yaml")
		if err := os.WriteFile(file, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for name, c := range map[string]struct {
		text, stdin string
		args        []string
		code        int
		out         string // all of standard output; "-" for what a test of its own looks at
		err         string
		left        string // what the file is then, "" for as before
	}{
		"file":         {text: old, args: []string{"--image", "acme/checkout=1.3", "-o", "file"}, out: edited},
		"so already":   {text: old, args: []string{"--image", "acme/checkout=1.2"}, err: "is so already"},
		"so, file":     {text: old, args: []string{"--image", "acme/checkout=1.2", "-o", "file"}, out: old},
		"write":        {text: old, args: []string{"--image", "acme/checkout=1.3", "-w"}, out: "-", left: edited},
		"several":      {text: old, args: []string{"--image", "acme/checkout=1.3", "--replicas", "2", "--set", "a=b", "-o", "file"}, out: strings.Replace(edited, ": 1", ": 2", 1)[:len(edited)] + "\r\na: b"},
		"all or none":  {text: old, args: []string{"--image", "acme/checkout=1.3", "--set", "image=x", "-w"}, code: 1, err: "holds several values"},
		"string":       {text: "a: 1\n", args: []string{"--set-string", "a=2", "-o", "file"}, out: "a: \"2\"\n"},
		"refused":      {text: "a: &a 1\nb: *a\n", args: []string{"--set", "b=2"}, code: 1, err: "values.yaml:2: b is an alias of &a"},
		"template":     {text: "{{ if .x }}\na: 1\n{{ end }}\n", args: []string{"--set", "a=2"}, code: 1, err: "values.yaml:1: it is a template"},
		"not UTF-8":    {text: "a: \xff\n", args: []string{"--set", "a=2"}, code: 1, err: "values.yaml:1: it is not UTF-8"},
		"large":        {text: strings.Repeat("# 34567\n", 1<<17) + "a: 1\n", args: []string{"--set", "a=2"}, code: 1, err: "more than the 1048576 bytes"},
		"no such":      {text: old, args: []string{"--image", "acme/other=2"}, code: 1, err: "acme/checkout"},
		"nothing":      {text: old, args: nil, code: 2, err: "nothing to change"},
		"bad tag":      {text: old, args: []string{"--image", "acme/checkout=a b"}, code: 2, err: "no tag"},
		"bad image":    {text: old, args: []string{"--image", "acme/checkout"}, code: 2, err: "names no image and tag"},
		"bad path":     {text: old, args: []string{"--set", "a..b=1"}, code: 2, err: "no path"},
		"bad set":      {text: old, args: []string{"--set", "a"}, code: 2, err: "PATH=VALUE"},
		"bad number":   {text: old, args: []string{"--replicas=-1"}, code: 2, err: "fewer than none"},
		"bad format":   {text: old, args: []string{"--replicas", "1", "-o", "sarif"}, code: 2, err: "diff, file, json"},
		"write a file": {text: old, args: []string{"--replicas", "2", "-w", "-o", "file"}, code: 2, err: "--write"},
	} {
		t.Run(name, func(t *testing.T) {
			file := write(t, c.text)
			r := run(t, nil, c.stdin, append([]string{"change", "edit", file}, c.args...)...)
			if r.code != c.code || c.out != "-" && r.out != c.out || !strings.Contains(r.err, c.err) {
				t.Errorf("%d %q\n%s", r.code, r.out, r.err)
			}
			if left, _ := os.ReadFile(file); c.left == "" && string(left) != c.text || c.left != "" && string(left) != c.left {
				t.Errorf("the file is %q", left)
			}
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("its mode is %v", info.Mode())
			}
			if rest, _ := os.ReadDir(filepath.Dir(file)); len(rest) != 1 {
				t.Errorf("%d files are left", len(rest))
			}
		})
	}
	if r := run(t, nil, old, "change", "edit", "-", "--image", "acme/checkout=1.3", "-o", "file"); r.code != 0 || r.out != edited {
		t.Errorf("standard input: %d %q %s", r.code, r.out, r.err)
	}
	if r := run(t, nil, "", "change", "edit", filepath.Join(t.TempDir(), "none"), "--replicas", "1"); r.code != 4 {
		t.Errorf("a missing file: %d %s", r.code, r.err)
	}
	if r := run(t, nil, "", "change", "edit", t.TempDir(), "--replicas", "1"); r.code != 1 {
		t.Errorf("a folder: %d %s", r.code, r.err)
	}
	r := run(t, nil, old, "change", "edit", "-", "--image", "acme/checkout=1.3", "-o", "json")
	var shown struct {
		Changed bool
		Touched []struct {
			Path, From, To string
			Line           int
		}
	}
	if err := json.Unmarshal([]byte(r.out), &shown); err != nil || !shown.Changed || len(shown.Touched) != 1 || shown.Touched[0].Line != 2 || shown.Touched[0].Path != "image.tag" {
		t.Errorf("JSON: %v %s", err, r.out)
	}
}

// TestChangeEditDiff has patch apply the diff that is printed.
func TestChangeEditDiff(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	const old = "a: 1\r\nb: 2"
	if err := os.WriteFile("f.yaml", []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t, nil, "", "change", "edit", "f.yaml", "--set", "b=3", "--set", "c=4")
	if r.code != 0 || r.out == "" {
		t.Fatal(r)
	}
	for _, args := range [][]string{{"init", "-q"}, {"apply", "-"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Stdin = strings.NewReader(r.out)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%q", err, out, r.out)
		}
	}
	if got, _ := os.ReadFile("f.yaml"); string(got) != "a: 1\r\nb: 3\r\nc: 4" {
		t.Errorf("%q", got)
	}
}
