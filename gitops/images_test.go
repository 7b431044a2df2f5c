package gitops

import (
	"fmt"
	"strings"
	"testing"
)

func TestImagesOf(t *testing.T) {
	for text, want := range map[string]string{
		"images:\n- name: acme/shop\n  newTag: \"1\"\n- {name: b, newName: ghcr.io/b, digest: sha256:0}\n- {name: c:2, newName: d}\n": "images[0] acme/shop 1 ; images[1] ghcr.io/b  sha256:0; images[2] d 2 ",
		"image: {repository: acme/shop, tag: 1@sha256:0}\nother: {registry: ghcr.io, repository: x, tag: ''}\n":                       "image acme/shop 1 sha256:0; other ghcr.io/x  ",
		"image: {repository: acme/shop@sha256, tag: abc}\n":                                                                           "image acme/shop  sha256:abc",
		"spec: {containers: [{image: localhost:5000/a:1}, {image: b@sha256:0}]}\n---\nsidecarImage: c\n---\n{{ x }}\n":                "spec.containers[0].image localhost:5000/a 1 ; spec.containers[1].image b  sha256:0; #2.sidecarImage c  ",
		"image: '{{ .Values.x }}'\nname: x\ntag: y\n":                                                                                 "",
		"a: [\n":                      "",
		"":                            "",
		"x: &a {image: q:1}\ny: *a\n": "x.image q 1 ",
	} {
		var got []string
		for _, im := range imagesOf([]byte(text)) {
			got = append(got, fmt.Sprintf("%s %s %s %s", im.path, im.name, im.Tag, im.Digest))
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("%q has %q, not %q", text, s, want)
		}
	}
	if deep := imagesOf([]byte(strings.Repeat("[", 9000) + strings.Repeat("]", 9000))); len(deep) != 0 {
		t.Error(deep)
	}
	if many := imagesOf([]byte(strings.Repeat("- image: a\n", 3000))); len(many) > maxImages {
		t.Error(len(many))
	}
}

func TestChangedImages(t *testing.T) {
	before := "images: [{name: ghcr.io/acme/shop, newTag: '1'}, {name: b, newTag: '3'}]\n"
	after := "images: [{name: ghcr.io/acme/shop, newTag: '2'}, {name: b, newTag: '3'}, {name: acme/c, newTag: '5'}]\n"
	based := func(name string) ImageState { return ImageState{Tag: "of " + name} }
	got := fmt.Sprintf("%+v", changedImages("k.yaml", []byte(before), []byte(after), based))
	want := "[{File:k.yaml Path:images[0] Name:ghcr.io/acme/shop Registry:ghcr.io Repository:acme/shop From:{Tag:1 Digest:} To:{Tag:2 Digest:}} " +
		"{File:k.yaml Path:images[2] Name:acme/c Registry:docker.io Repository:acme/c From:{Tag:of acme/c Digest:} To:{Tag:5 Digest:}}]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if r, n := registryOf("shop"); r != "docker.io" || n != "library/shop" {
		t.Errorf("%s %s", r, n)
	}
}

func TestBelow(t *testing.T) {
	for _, c := range [][3]string{{"a/b", "c.yaml", "a/b/c.yaml"}, {"a", "./c/../d", "a/d"}, {"", "a/b/", "a/b"}, {"", ".", ""}} {
		if got, err := below(c[0], c[1]); err != nil || got != c[2] {
			t.Errorf("%q: %q %v", c, got, err)
		}
	}
	for _, c := range [][2]string{{"a", "../b"}, {"a", "/etc/passwd"}, {"", "../x"}, {"a", "b/../../ab"}, {"a", `..\b`}, {"a", "b\x00"}, {"", ".git/config"}, {"a", ""}} {
		if got, err := below(c[0], c[1]); err == nil {
			t.Errorf("%q gives %q", c, got)
		}
	}
}
