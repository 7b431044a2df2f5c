package edit

import (
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// reference is an image as it is written: ghcr.io/acme/checkout:1.2@sha256:….
type reference struct{ name, tag, digest string }

var (
	tagForm    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	digestForm = regexp.MustCompile(`^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$`)
	hexForm    = regexp.MustCompile(`^[0-9a-f]{64}$`)
	nameForm   = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9._/:-]*[A-Za-z0-9])?$`)
)

// parseReference reads an image; a name that ends in @sha256 has its digest
// beside it, as some charts have it in tag.
func parseReference(s string) reference {
	var r reference
	r.name, r.digest, _ = strings.Cut(s, "@")
	if i := strings.LastIndexByte(r.name, ':'); i > strings.LastIndexByte(r.name, '/') {
		r.name, r.tag = r.name[:i], r.name[i+1:]
	}
	return r
}

// valid tells whether it can be an image's name at all.
func (r reference) valid() bool { return nameForm.MatchString(r.name) }

// String is the image as it is written.
func (r reference) String() string {
	s := r.name
	if r.tag != "" {
		s += ":" + r.tag
	}
	if r.digest != "" {
		s += "@" + r.digest
	}
	return s
}

// split parts a name into its registry, "" where none is named, and the rest.
func split(name string) (registry, path string) {
	first, rest, found := strings.Cut(name, "/")
	if !found || !strings.ContainsAny(first, ".:") && first != "localhost" {
		return "", name
	}
	return first, rest
}

// canonical writes out what Docker adds to short names.
func canonical(name string) string {
	registry, path := split(name)
	if registry != "" && !slices.Contains([]string{"docker.io", "index.docker.io", "registry-1.docker.io"}, registry) {
		return name
	}
	if !strings.Contains(path, "/") {
		path = "library/" + path
	}
	return "docker.io/" + path
}

// The ways in which a name that was asked for fits one that is written, the
// best first.
const (
	fitsWell = iota
	fitsBehindRegistry
	fitsNot
)

// fit tells how a name that was asked for fits one that is written. What Docker
// adds to short names makes no difference. Without a registry it fits the same
// name in any.
func fit(asked, written string) int {
	registry, path := split(asked)
	_, there := split(written)
	if canonical(asked) == canonical(written) {
		return fitsWell
	}
	if registry == "" && path == there {
		return fitsBehindRegistry
	}
	return fitsNot
}

// ParseImage reads NAME=TAG, NAME=TAG@DIGEST or NAME=@DIGEST.
func ParseImage(s string) (Image, error) {
	name, version, found := strings.Cut(s, "=")
	tag, digest, _ := strings.Cut(version, "@")
	im := Image{Name: name, Tag: tag, Digest: digest}
	if !found {
		return im, fault.New(fault.Invalid, "%q names no image and tag", s).WithFix("Write NAME=TAG, or NAME=TAG@sha256:DIGEST: ghcr.io/acme/checkout=1.4.2.")
	}
	return im, im.check()
}

// check tells what is wrong with the change itself.
func (im Image) check() error {
	var message, fix string
	switch {
	case !nameForm.MatchString(strings.TrimSuffix(im.Name, pinned)):
		message, fix = quote(im.Name)+" is no name of an image", "Write it as it is in the file: ghcr.io/acme/checkout."
	case parseReference(im.Name).tag != "":
		message, fix = "the name "+quote(im.Name)+" has a tag", "Leave the old tag out of the name."
	case im.Tag == "" && im.Digest == "":
		message, fix = "there is neither a tag nor a digest for "+im.Name, "Write NAME=TAG, or NAME=TAG@sha256:DIGEST."
	case im.Tag != "" && !tagForm.MatchString(im.Tag):
		message, fix = quote(im.Tag)+" is no tag", "A tag has letters, digits, dots, dashes and underscores, at most 128; to change the name as well use --set."
	case im.Digest != "" && !digestForm.MatchString(im.Digest):
		message, fix = quote(im.Digest)+" is no digest", "Write sha256: and 64 hexadecimal digits."
	default:
		return nil
	}
	return fault.New(fault.Invalid, "%s", message).WithFix("%s", fix)
}

// pinned is how a repository ends whose digest stands in tag.
const pinned = "@sha256"
