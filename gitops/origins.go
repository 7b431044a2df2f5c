package gitops

import (
	"cmp"
	"slices"
)

// Origins tells what images were built from.
type Origins interface {
	// Origin is what is known by now of the image of a name and a digest. It does
	// not wait: what is not known yet may be known the next time.
	Origin(image, digest string) (Origin, bool)
}

// Origin is what an image was built from and by whom, as it says itself or as is
// attached to it; nobody vouches for it.
type Origin struct{ Commit, Source, BuiltBy string }

// origins adds to images what is known of where they come from, where they do
// not tell that themselves.
func (s *HealthService) origins(images []DeployedImage) []DeployedImage {
	images = slices.Clone(images)
	for i := range images {
		im := &images[i]
		if s.cfg.Origins == nil || im.Digest == "" || im.Commit != "" && im.BuiltBy != "" {
			continue
		}
		o, ok := s.cfg.Origins.Origin(im.Name, im.Digest)
		if !ok {
			continue
		}
		if im.Commit == "" || im.Commit == o.Commit {
			im.Commit, im.Source = o.Commit, o.Source
		}
		im.BuiltBy = cmp.Or(im.BuiltBy, o.BuiltBy)
	}
	return images
}
