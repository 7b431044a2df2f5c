package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/fairlead-dev/fairlead/gitops/edit"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// The formats in which an edit is printed.
const (
	formatDiff = "diff"
	formatFile = "file"
)

type changeEditCmd struct {
	File      string   `arg:"" help:"The file, - for standard input." predictor:"file"`
	Image     []string `help:"Set the tag or the digest of an image: NAME=TAG, NAME=TAG@DIGEST or NAME=@DIGEST." placeholder:"NAME=TAG" sep:"none"`
	Set       []string `help:"Set the value at a path; a key that is missing is added." placeholder:"PATH=VALUE" sep:"none"`
	SetString []string `help:"The same, and the value is a string whatever it looks like." placeholder:"PATH=VALUE" sep:"none"`
	Replicas  *int     `help:"Set how many replicas there are." placeholder:"N"`
	Document  string   `help:"Of a file with several documents only this: its number, its kind, or KIND/NAME." placeholder:"DOCUMENT"`
	Write     bool     `short:"w" help:"Write the file itself, and print the diff."`
}

// Help shows examples.
func (changeEditCmd) Help() string {
	return `No server is asked. Only the bytes that the change means are touched: comments,
quotes, indentation, anchors and line endings stay as they are. What cannot be
done so is refused with the line and the reason, and the exit code is 1: a
template, a value that an alias uses in a second place, a name that fits more
than one thing, a block of text, a file that is not UTF-8 or above 1 MiB.
A file that is as wanted already is a success without a change.

-o diff, the default, prints a unified diff; -o file the whole new file, also
where nothing changes; -o json the places, the diff and whether anything
changed. The file itself is written only with --write.

--image knows images of containers, entries of a kustomization (name or
newName), blocks of Helm values (repository and tag), and Kustomize images and
Helm parameters of an Argo CD application. The name may lack its registry where
that leaves no doubt. Every place that has the image is changed. A tag without a
digest takes away a digest that is there, as kustomize edit set image does; in a
kustomization an image that has no entry gets one.

A PATH has keys with dots between them; an item is [0], or [name=checkout]; a
key with dots stands in quotes.

Examples:

  fairlead change edit kustomization.yaml --image ghcr.io/acme/checkout=1.4.2
  fairlead change edit values.yaml --image acme/checkout=1.4.2@sha256:DIGEST -o file > new.yaml
  fairlead change edit deployment.yaml --replicas 3 --write
  fairlead change edit values.yaml --set image.tag=1.20
  fairlead change edit app.yaml --set 'spec.source.helm.parameters[name=image.tag].value=1.4.2'
  fairlead change edit deployment.yaml --set 'spec.template.spec.containers[name=app].env[name=LOG].value=debug'
  fairlead change edit all.yaml --document Deployment/checkout --set 'metadata.annotations."example.com/owner"=payments'`
}

func (changeEditCmd) formats() []string {
	return []string{formatTable, formatDiff, formatFile, formatJSON, formatYAML}
}

// Run edits.
func (e *changeEditCmd) Run(c *console) error {
	changes, err := e.changes()
	if err != nil {
		return err
	}
	if e.Write && (e.File == "-" || c.Output == formatFile) {
		return fault.New(fault.Invalid, "--write goes with a file, and not with -o file").WithFix("Leave out --write, or name a file and print the diff.")
	}
	old, err := e.read(c)
	if err != nil {
		return err
	}
	name := e.File
	if name == "-" {
		name = "stdin"
	}
	res, err := edit.Apply(edit.Request{File: name, Text: string(old), Document: e.Document, Changes: changes})
	if err != nil {
		return err
	}
	if e.Write && len(res.Touched) > 0 {
		if err := replaceFile(e.File, []byte(res.Text)); err != nil {
			return fault.New(fault.FailedPrecondition, "%s cannot be written", e.File).WithFix("Check that you may write the file and its folder.").Because(err)
		}
	}
	return e.print(c, name, old, res)
}

// changes are what the flags ask for.
func (e *changeEditCmd) changes() ([]edit.Change, error) {
	var out []edit.Change
	for _, s := range e.Image {
		im, err := edit.ParseImage(s)
		if err != nil {
			return nil, err
		}
		out = append(out, im)
	}
	for i, s := range append(e.Set[:len(e.Set):len(e.Set)], e.SetString...) {
		path, value, ok := edit.SplitAssignment(s)
		if !ok {
			return nil, fault.New(fault.Invalid, "%q has no path and value", s).WithFix("Write PATH=VALUE: image.tag=1.4.2.")
		}
		out = append(out, edit.Set{Path: path, Value: value, String: i >= len(e.Set)})
	}
	if e.Replicas != nil {
		out = append(out, edit.Replicas{Count: *e.Replicas})
	}
	if len(out) == 0 {
		return nil, fault.New(fault.Invalid, "there is nothing to change").WithFix("Add --image NAME=TAG, --set PATH=VALUE or --replicas N.")
	}
	return out, nil
}

// read reads the file, one byte more than is edited at most.
func (e *changeEditCmd) read(c *console) ([]byte, error) {
	in := c.In
	if e.File != "-" {
		f, err := os.Open(e.File)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fault.New(fault.NotFound, "there is no file %s", e.File).WithFix("Check the path.")
		}
		if err != nil {
			return nil, fault.New(fault.FailedPrecondition, "%s cannot be read", e.File).WithFix("Check that you may read it.").Because(err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, edit.MaxBytes+1))
	if err != nil {
		return nil, fault.New(fault.FailedPrecondition, "%s cannot be read", e.File).WithFix("Name a file, not a folder.").Because(err)
	}
	if len(text) > edit.MaxBytes {
		return nil, fault.New(fault.FailedPrecondition, "%s has more than the %d bytes that are edited", e.File, edit.MaxBytes).WithFix("Split the file, or change it by hand.")
	}
	return text, nil
}

func (e *changeEditCmd) print(c *console, name string, old []byte, res *edit.Result) error {
	diff := udiff.Unified("a/"+strings.TrimLeft(filepath.ToSlash(name), "/"), "b/"+strings.TrimLeft(filepath.ToSlash(name), "/"), string(old), res.Text)
	switch c.Output {
	case formatFile:
		_, err := io.WriteString(c.Out, res.Text)
		return err
	case formatJSON, formatYAML:
		touched := res.Touched
		if touched == nil {
			touched = []edit.Touch{}
		}
		raw, err := json.Marshal(map[string]any{"file": name, "changed": len(touched) > 0, "touched": touched, "diff": diff})
		return printRaw(c, raw, err)
	}
	if len(res.Touched) == 0 {
		c.note("%s is so already", name)
	}
	_, err := fmt.Fprint(c.Out, diff)
	return err
}

// replaceFile puts new content in the place of a file's in one step; it keeps
// the mode, and follows a link to the file that it stands for.
func replaceFile(name string, text []byte) error {
	name, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
