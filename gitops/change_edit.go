package gitops

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/gitops/edit"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// changing is a change to an environment on its way to files.
type changing struct {
	in ProposeChangeInput
	// ref and name are the service's, env is the environment's name, dir the
	// folder or file that describes it.
	ref, name, env, dir string
	at                  Place
	protected           bool
	// rendering is what it is rendered as.
	rendering *Render
	// part is what it is part of, nil for a change of its own.
	part *fleetPart
	// site is the whole of that, nil where it is not known any more.
	site *site
	// named is the image as the files call it.
	named string
	// What the last edit came to.
	touched []touchedPlace
	images  []PlannedImage
}

// touchedPlace is one place that is changed.
type touchedPlace struct {
	File string `json:"file"`
	edit.Touch
}

// desk is where one edit is worked out.
type desk struct {
	*changing
	base  Files
	dir   string   // the folder
	files []string // that describe the environment
	known []writtenImage
	// whole tells that all images of the environment are known.
	whole bool
	old   map[string][]byte
	text  map[string][]byte
	// found are the images of files as the base has them.
	found map[string][]writtenImage
}

// edit makes the change on the files of a base.
func (c *changing) edit(ctx context.Context, base Files) ([]File, error) {
	c.touched, c.images = nil, nil
	d := &desk{changing: c, base: base, dir: c.dir, old: map[string][]byte{}, text: map[string][]byte{}, found: map[string][]writtenImage{}}
	if err := d.list(ctx); err != nil {
		return nil, err
	}
	if err := d.carryOut(ctx); err != nil {
		return nil, err
	}
	if err := c.site.overridden(c); err != nil {
		return nil, err
	}
	return d.done(), nil
}

// carryOut makes all edits of the change.
func (d *desk) carryOut(ctx context.Context) error {
	switch {
	case d.in.Change.Image != nil:
		return d.image(ctx, *d.in.Change.Image)
	case d.in.Change.Replicas != nil:
		return d.one(ctx, edit.Replicas{Count: *d.in.Change.Replicas}, d.tiers())
	}
	for _, s := range d.in.Change.Set {
		if err := d.set(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// done gives the files with their new texts.
func (d *desk) done() []File {
	files := make([]File, 0, len(d.text))
	for name, text := range d.text {
		files = append(files, File{Path: name, Data: text})
		d.images = append(d.images, changedImages(name, d.old[name], text, d.version)...)
	}
	slices.SortFunc(d.images, func(a, b PlannedImage) int { return strings.Compare(a.File+" "+a.Path, b.File+" "+b.Path) })
	return files
}

// version is the one that an image has below the files that are changed.
func (d *desk) version(name string) ImageState {
	for _, im := range d.known {
		if im.is(name) && im.ImageState != (ImageState{}) {
			return im.ImageState
		}
	}
	return ImageState{}
}

// list finds the files that describe the environment.
func (d *desk) list(ctx context.Context) error {
	names, err := d.base.List(ctx, d.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if isYAML(name) {
			d.files = append(d.files, path.Join(d.dir, name))
		}
	}
	if len(names) == 0 && isYAML(d.dir) {
		d.files, d.dir = []string{d.dir}, strings.TrimPrefix(path.Dir(d.dir), ".")
	}
	if len(d.files) == 0 {
		return fault.New(fault.FailedPrecondition, "there is no YAML file in %s, which the catalog says describes %s of %s", orRoot(d.dir), d.env, d.ref).
			WithFix("Correct the environment's path, or deployRepo, in the service's catalog file.")
	}
	return nil
}

func isYAML(name string) bool {
	ext := path.Ext(name)
	return ext == ".yaml" || ext == ".yml" || path.Base(name) == "Kustomization"
}

func isKustomization(file string) bool {
	switch path.Base(file) {
	case "kustomization.yaml", "kustomization.yml", "Kustomization":
		return true
	}
	return false
}

// read gives a file as the edits so far have left it.
func (d *desk) read(ctx context.Context, file string) ([]byte, error) {
	if text, ok := d.text[file]; ok {
		return text, nil
	}
	text, err := d.base.Read(ctx, file)
	if err == nil {
		d.old[file] = text
	}
	return text, err
}

// imagesIn are the images of a file as the base has it, found once.
func (d *desk) imagesIn(file string, text []byte) []writtenImage {
	images, ok := d.found[file]
	if !ok {
		images = imagesOf(text)
		d.found[file] = images
	}
	return images
}

// try makes an edit of a file, without keeping it.
func (d *desk) try(ctx context.Context, file string, change edit.Change) (*edit.Result, error) {
	text, err := d.read(ctx, file)
	if err != nil {
		return nil, err
	}
	return edit.Apply(edit.Request{File: file, Text: string(text), Changes: []edit.Change{change}})
}

// keep takes an edit over.
func (d *desk) keep(file string, r *edit.Result) {
	d.text[file] = []byte(r.Text)
	for _, t := range r.Touched {
		d.touched = append(d.touched, touchedPlace{file, t})
	}
}

// set writes a value in the file that is named, or the only one.
func (d *desk) set(ctx context.Context, s SetChange) error {
	change, err := s.edit()
	if err != nil {
		return err
	}
	file, err := d.meant(s.File)
	if err != nil {
		return err
	}
	r, err := d.try(ctx, file, change)
	if err != nil {
		return d.missing(err, file)
	}
	d.keep(file, r)
	return nil
}

// meant is the file that the caller means.
func (d *desk) meant(file string) (string, error) {
	if file != "" {
		return below(d.dir, file)
	}
	if len(d.files) > 1 {
		return "", fault.New(fault.FailedPrecondition, "%s of %s is described by %d files", d.env, d.ref, len(d.files)).
			WithFix("Say in file which of them is meant: %s.", d.some(d.files)).WithDetail("files", d.relative(d.files))
	}
	return d.files[0], nil
}

// missing words the fault of a file that is not there.
func (d *desk) missing(err error, file string) error {
	if f := fault.From(err); f.Code != fault.Internal && f.Code != fault.NotFound {
		return err
	}
	return fault.New(fault.FailedPrecondition, "there is no file %s in the deploy repository", file).
		WithFix("There is %s.", d.some(d.files)).Because(err)
}

// relative are files as the caller names them.
func (d *desk) relative(files []string) []string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = strings.TrimPrefix(strings.TrimPrefix(f, d.dir), "/")
	}
	return out
}

// some names files for people.
func (d *desk) some(files []string) string {
	names := d.relative(files)
	if n := len(names) - 10; n > 0 {
		return strings.Join(names[:10], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
