package gitops

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxImages bounds the images that are read of one file.
const maxImages = 500

// ImageState is what is said of an image's version.
type ImageState struct {
	Tag    string `json:"tag"`
	Digest string `json:"digest"`
}

// PlannedImage is an image that a change touches, as policy sees it.
type PlannedImage struct {
	// File and Path say where it is written.
	File string `json:"file"`
	Path string `json:"path"`
	// Name is the whole name as it is written, Registry where it comes from
	// (docker.io where none is written), Repository the name within that.
	Name       string     `json:"name"`
	Registry   string     `json:"registry"`
	Repository string     `json:"repository"`
	From       ImageState `json:"from"`
	To         ImageState `json:"to"`
}

// writtenImage is an image as a file has it.
type writtenImage struct {
	path string
	// key is what a kustomization calls it, name what it becomes there.
	key, name string
	ImageState
}

// imagesOf finds the images of a YAML file: entries of a kustomization,
// repository and tag of Helm values, and values that are called image. A file
// that is no YAML has none.
func imagesOf(text []byte) []writtenImage {
	var out []writtenImage
	if !mayHoldImages(text) {
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	for i := 0; len(out) < maxImages; i++ {
		var doc yaml.Node
		if dec.Decode(&doc) != nil {
			return out
		}
		at := ""
		if i > 0 {
			at = "#" + strconv.Itoa(i+1)
		}
		if len(doc.Content) == 1 {
			findImages(doc.Content[0], at, 0, &out)
		}
	}
	return out
}

// mayHoldImages tells whether a text has one of the words that images are found
// by, or may have one in other characters.
func mayHoldImages(text []byte) bool {
	lower := bytes.ToLower(text)
	return slices.ContainsFunc([]string{"image", "repository", "newtag", "newname", "digest", `\`}, func(word string) bool { return bytes.Contains(lower, []byte(word)) })
}

// findImages looks for images below a node.
func findImages(n *yaml.Node, at string, depth int, out *[]writtenImage) {
	if depth > 50 || len(*out) >= maxImages {
		return
	}
	below := func(key string) string { return strings.TrimPrefix(at+"."+key, ".") }
	switch n.Kind {
	case yaml.SequenceNode:
		for i, c := range n.Content {
			findImages(c, at+"["+strconv.Itoa(i)+"]", depth+1, out)
		}
	case yaml.MappingNode:
		if im, ok := blockOf(n); ok {
			im.path = at
			*out = append(*out, im)
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, v := n.Content[i], n.Content[i+1]
			if name := strings.ToLower(k.Value); v.Kind == yaml.ScalarNode && (name == "image" || strings.HasSuffix(name, "image")) && v.Value != "" && !strings.Contains(v.Value, "{{") {
				im := parseImage(v.Value)
				im.path = below(k.Value)
				*out = append(*out, im)
			}
			findImages(v, below(k.Value), depth+1, out)
		}
	}
}

// blockOf reads a mapping that says an image in several keys.
func blockOf(n *yaml.Node) (im writtenImage, ok bool) {
	get := map[string]string{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if v := n.Content[i+1]; v.Kind == yaml.ScalarNode {
			get[n.Content[i].Value] = v.Value
		}
	}
	_, newTag := get["newTag"]
	_, newName := get["newName"]
	_, tag := get["tag"]
	_, digest := get["digest"]
	switch repository := get["repository"]; {
	case get["name"] != "" && (newTag || newName || digest && repository == ""):
		im = parseImage(get["name"])
		im.key = get["name"]
		if newName && get["newName"] != "" {
			im.name = get["newName"]
		}
		tagged(&im, get["newTag"], get["digest"])
		return im, true
	case repository != "" && (tag || digest):
		if r := get["registry"]; r != "" {
			repository = r + "/" + repository
		}
		im = parseImage(repository)
		tagged(&im, get["tag"], get["digest"])
		return im, true
	}
	return im, false
}

// tagged notes the version that stands beside a name.
func tagged(im *writtenImage, tag, digest string) {
	tag, pinned, _ := strings.Cut(tag, "@")
	if digest == "" {
		digest = pinned
	}
	if strings.HasSuffix(im.name, "@sha256") { // as some charts split it
		im.name, digest, tag = strings.TrimSuffix(im.name, "@sha256"), "sha256:"+tag, ""
	}
	if tag != "" || digest != "" {
		im.Tag, im.Digest = tag, digest
	}
}

// parseImage reads an image on one line.
func parseImage(s string) (im writtenImage) {
	if name, ok := strings.CutSuffix(s, "@sha256"); ok {
		im.key, im.name = name, s
		return im
	}
	im.name, im.Digest, _ = strings.Cut(s, "@")
	if i := strings.LastIndexByte(im.name, ':'); i > strings.LastIndexByte(im.name, '/') {
		im.name, im.Tag = im.name[:i], im.name[i+1:]
	}
	im.key = im.name
	return im
}

// is tells whether an image has a name: the whole one, or that without its
// registry.
func (im *writtenImage) is(name string) bool {
	for _, have := range []string{im.key, im.name} {
		if have == name || strings.HasSuffix(have, "/"+name) {
			return true
		}
	}
	return false
}

// changedImages are the images of a file that a change touches. based gives the
// version that an image has without the file's own, for what the file did not
// say before; nil where that is not known.
func changedImages(file string, before, after []byte, based func(name string) ImageState) []PlannedImage {
	had := map[string]writtenImage{}
	for _, im := range imagesOf(before) {
		had[im.path] = im
	}
	var out []PlannedImage
	for _, im := range imagesOf(after) {
		old, there := had[im.path]
		if there && old.name == im.name && old.ImageState == im.ImageState {
			continue
		}
		if !there && based != nil {
			old.ImageState = based(im.key)
		}
		p := PlannedImage{File: file, Path: im.path, Name: im.name, From: old.ImageState, To: im.ImageState}
		p.Registry, p.Repository = registryOf(im.name)
		out = append(out, p)
	}
	return out
}

// registryOf parts a name into registry and the rest, as Docker reads it.
func registryOf(name string) (registry, repository string) {
	first, rest, found := strings.Cut(name, "/")
	switch {
	case found && (strings.ContainsAny(first, ".:") || first == "localhost"):
		return first, rest
	case found:
		return "docker.io", name
	}
	return "docker.io", "library/" + name
}
