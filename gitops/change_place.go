package gitops

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/gitops/edit"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// maxBases bounds the files that are read of what a kustomization is made of.
const maxBases = 100

// tiers are the files of an environment by how likely they are meant: its
// kustomization, Helm values of its own, Helm values, the rest. A file that the
// caller names is the only one.
func (d *desk) tiers() [][]string {
	if d.in.Change.File != "" {
		file, err := below(d.dir, d.in.Change.File)
		if err != nil {
			file = d.in.Change.File // which is not there
		}
		return [][]string{{file}}
	}
	out := make([][]string, 4)
	for _, f := range d.files {
		i := d.tier(path.Base(f))
		out[i] = append(out[i], f)
	}
	return out
}

func (d *desk) tier(base string) int {
	stem := strings.ToLower(strings.TrimSuffix(base, path.Ext(base)))
	values := strings.HasPrefix(stem, "values")
	own := slices.Contains(strings.FieldsFunc(stem, func(r rune) bool { return r == '-' || r == '_' || r == '.' }), strings.ToLower(d.env))
	switch {
	case isKustomization(base):
		return 0
	case own:
		return 1
	case values:
		return 2
	}
	return 3
}

// fit is a file that an edit can be made of.
type fit struct {
	file string
	*edit.Result
}

// one makes an edit in the one file that it fits; files of an earlier tier come
// first.
func (d *desk) one(ctx context.Context, change edit.Change, tiers [][]string) error {
	var reasons []error
	for _, tier := range tiers {
		fits, why := d.fits(ctx, change, tier)
		reasons = append(reasons, why...)
		switch len(fits) {
		case 0:
			continue
		case 1:
			d.keep(fits[0].file, fits[0].Result)
			return nil
		}
		return d.ambiguous(fits)
	}
	return d.nowhere(reasons)
}

// fits are the files that an edit can be made of, and why it cannot of others.
func (d *desk) fits(ctx context.Context, change edit.Change, files []string) (fits []fit, reasons []error) {
	for _, f := range files {
		r, err := d.try(ctx, f, change)
		if err != nil {
			reasons = append(reasons, d.missing(err, f))
			continue
		}
		fits = append(fits, fit{f, r})
	}
	return fits, reasons
}

// ambiguous refuses to choose.
func (d *desk) ambiguous(fits []fit) error {
	files := make([]string, len(fits))
	for i := range fits {
		files[i] = fits[i].file
	}
	return fault.New(fault.FailedPrecondition, "%s of %s says it in %d files", d.env, d.ref, len(files)).
		WithFix("Say in change.file which of them is meant: %s.", d.some(files)).WithDetail("files", d.relative(files))
}

// nowhere says why no file will do: in the words of the only one, else a line
// for each.
func (d *desk) nowhere(reasons []error) error {
	if len(reasons) == 1 {
		return reasons[0]
	}
	var lines []string
	for _, err := range reasons[:min(len(reasons), 5)] {
		f := fault.From(err)
		if f.Code == fault.Invalid || f.Code == fault.Unavailable {
			return f
		}
		lines = append(lines, f.Message)
	}
	return fault.New(fault.FailedPrecondition, "no file of %s of %s can be changed so: %s", d.env, d.ref, strings.Join(lines, "; ")).
		WithFix("Name the file in change.file, or write the value by its path with change.set; the files are %s.", d.some(d.files))
}

// image sets the version of an image: where a file of the environment says it,
// else in its kustomization, if the image is one of what that is made of.
func (d *desk) image(ctx context.Context, want ImageChange) error {
	d.survey(ctx)
	if err := d.readable(ctx, want); err != nil {
		return err
	}
	if want.Name == "" {
		var err error
		if want.Name, err = d.only(); err != nil {
			return err
		}
	}
	if err := d.called(want.Name); err != nil {
		return err
	}
	want.Name = d.named
	change := edit.Image{Name: want.Name, Tag: want.Tag, Digest: want.Digest}
	tiers := d.tiers()
	if d.in.Change.File != "" {
		return d.one(ctx, change, tiers)
	}
	if say := d.saying(ctx, want.Name); len(say) > 0 {
		return d.one(ctx, change, narrowed(tiers, say))
	}
	if len(tiers[0]) == 0 || d.whole && !d.has(want.Name) {
		return d.unknown(want.Name)
	}
	return d.one(ctx, change, tiers[:1])
}

// saying are the files that have an image.
func (d *desk) saying(ctx context.Context, name string) (out []string) {
	for _, f := range d.files {
		text, err := d.read(ctx, f)
		if err == nil && slices.ContainsFunc(d.imagesIn(f, text), func(im writtenImage) bool { return im.is(name) }) {
			out = append(out, f)
		}
	}
	return out
}

// narrowed keeps of tiers what is among some files.
func narrowed(tiers [][]string, some []string) [][]string {
	out := make([][]string, len(tiers))
	for i, t := range tiers {
		for _, f := range t {
			if slices.Contains(some, f) {
				out[i] = append(out[i], f)
			}
		}
	}
	return out
}

// called finds what the files call an image: a name may lack its beginning
// where that leaves no doubt.
func (d *desk) called(name string) error {
	var like []string
	for _, im := range d.known {
		if im.key == name {
			like = []string{name}
			break
		}
		if im.is(name) && !slices.Contains(like, im.key) {
			like = append(like, im.key)
		}
	}
	if len(like) > 1 {
		return fault.New(fault.FailedPrecondition, "%s of %s has %d images that may be %s", d.env, d.ref, len(like), clip(name, 200)).
			WithFix("Write one of %s.", strings.Join(like, ", ")).WithDetail("images", like)
	}
	d.named = append(like, name)[0]
	return nil
}

func (d *desk) has(name string) bool {
	return slices.ContainsFunc(d.known, func(im writtenImage) bool { return im.is(name) })
}

// only is the name of the only image.
func (d *desk) only() (string, error) {
	names := d.names()
	if len(names) == 1 {
		return names[0], nil
	}
	return "", fault.New(fault.FailedPrecondition, "%s of %s has %d images, so change.image needs a name", d.env, d.ref, len(names)).
		WithFix("%s", hadImages(names)).WithDetail("images", names)
}

// unknown refuses an image that nobody has heard of: setting it would change
// nothing that runs.
func (d *desk) unknown(name string) error {
	return fault.New(fault.FailedPrecondition, "%s of %s has no image %s", d.env, d.ref, clip(name, 200)).
		WithFix("%s", hadImages(d.names())).WithDetail("images", d.names())
}

func hadImages(names []string) string {
	if len(names) == 0 {
		return "None is found in its files: write the value by its path with change.set."
	}
	return "It has " + strings.Join(names[:min(len(names), 10)], ", ") + "."
}

// names are the images that are known, each once.
func (d *desk) names() (names []string) {
	for _, im := range d.known {
		if !slices.ContainsFunc(d.known, func(o writtenImage) bool { return o.name == im.key && o.key != im.key }) {
			names = append(names, im.key)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// survey finds the images of the environment: in its files, and in those that
// its kustomization names.
func (d *desk) survey(ctx context.Context) {
	d.known, d.whole = nil, true
	seen := map[string]bool{}
	for _, f := range d.files {
		d.look(ctx, f, seen)
	}
}

// readable refuses an image that is in none of the files as far as they can be
// read, where one of the environment's own cannot.
func (d *desk) readable(ctx context.Context, want ImageChange) error {
	if len(d.known) > 0 && (want.Name == "" || d.has(want.Name)) {
		return nil
	}
	for _, f := range d.files {
		text, err := d.read(ctx, f)
		if err == nil && utf8.Valid(text) && !bytes.ContainsRune(text, 0) {
			continue
		}
		if err == nil {
			_, err = d.try(ctx, f, edit.Image{Name: cmp.Or(want.Name, "image"), Tag: want.Tag, Digest: want.Digest})
		}
		if err != nil {
			return d.missing(err, f)
		}
	}
	return nil
}

// look reads the images of a file and of what it is made of.
func (d *desk) look(ctx context.Context, file string, seen map[string]bool) {
	if seen[file] {
		return
	}
	seen[file] = true
	text, err := d.base.Read(ctx, file)
	if err != nil || len(seen) > maxBases {
		d.whole = d.whole && errors.Is(err, ErrNoFile)
		return
	}
	d.known = append(d.known, d.imagesIn(file, text)...)
	for _, of := range madeOf(file, text) {
		d.lookInto(ctx, path.Dir(file), of, seen)
	}
}

// lookInto follows one resource of a kustomization.
func (d *desk) lookInto(ctx context.Context, dir, of string, seen map[string]bool) {
	at, err := below("", path.Join(dir, of))
	if err != nil || strings.Contains(of, "://") || strings.Contains(of, "?ref=") || strings.HasPrefix(of, "git@") {
		d.whole = false
		return
	}
	if isYAML(at) {
		d.look(ctx, at, seen)
		return
	}
	names, err := d.base.List(ctx, at)
	d.whole = d.whole && err == nil && len(names) > 0
	for _, n := range names {
		if isKustomization(n) {
			d.look(ctx, path.Join(at, n), seen)
		}
	}
}

// madeOf are the resources that a kustomization names; charts are not followed
// and count as one that is elsewhere.
func madeOf(file string, text []byte) []string {
	var k struct {
		Resources, Bases, Components []string
		HelmCharts                   []struct{ Name string } `yaml:"helmCharts"`
	}
	if !isKustomization(file) || yaml.Unmarshal(text, &k) != nil {
		return nil
	}
	out := slices.Concat(k.Resources, k.Bases, k.Components)
	if len(k.HelmCharts) > 0 {
		out = append(out, "https://charts.invalid")
	}
	return out
}
