// Package registry asks registries of container images what an image was built
// from and by whom: as its labels and annotations say, or the provenance that is
// attached to it. What an image of a digest is never changes, so it is asked for
// once.
package registry
