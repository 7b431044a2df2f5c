package registry

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"regexp"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/fairlead-dev/fairlead/gitops"
)

// What images say of themselves, as labels or annotations.
const (
	revisionLabel = "org.opencontainers.image.revision"
	sourceLabel   = "org.opencontainers.image.source"
	builderLabel  = "fairlead.dev/built-by"
)

// manifest is what is read of an image's or an index's manifest.
type manifest struct {
	Annotations map[string]string `json:"annotations"`
	Config      *v1.Descriptor    `json:"config"`
	Layers      []v1.Descriptor   `json:"layers"`
	Manifests   []v1.Descriptor   `json:"manifests"`
}

// reading is one look at an image.
type reading struct {
	*guarded
	opts []remote.Option
	repo name.Repository
}

// origin asks what an image was built from: first what it says itself, then
// what is attached to it.
func (g *guarded) origin(ctx context.Context, ref name.Digest) (gitops.Origin, error) {
	auth, err := g.cfg.auth()
	if err != nil {
		return gitops.Origin{}, err
	}
	r := &reading{guarded: g, repo: ref.Context(), opts: []remote.Option{remote.WithContext(ctx), remote.WithTransport(g), remote.WithAuth(auth), remote.WithUserAgent("fairlead"),
		remote.WithRetryBackoff(remote.Backoff{Steps: 1})}}
	if g.cfg.PlainHTTP {
		if r.repo, err = name.NewRepository(ref.Context().Name(), name.Insecure); err != nil {
			return gitops.Origin{}, err
		}
	}
	top, err := r.manifest(ref.DigestStr())
	if err != nil {
		return gitops.Origin{}, err
	}
	said, subjects, err := r.says(top, ref.DigestStr())
	if err != nil {
		return gitops.Origin(said), err
	}
	return gitops.Origin(r.attested(top, subjects).over(said)), nil
}

// says is what an image says of itself, and the digests that it has: its own,
// and of an index that of the image of the usual platform.
func (r *reading) says(top *manifest, digest string) (said gitopsOrigin, subjects []string, err error) {
	said, subjects = saidBy(top.Annotations), []string{digest}
	image := top
	if len(top.Manifests) > 0 {
		one := usual(top.Manifests)
		if one == nil {
			return said, subjects, nil
		}
		subjects = append(subjects, one.Digest.String())
		if image, err = r.manifest(one.Digest.String()); err != nil {
			return said, subjects, err
		}
		said = said.over(saidBy(image.Annotations))
	}
	if image.Config == nil {
		return said, subjects, nil
	}
	labels, err := r.labels(image.Config)
	return said.over(saidBy(labels)), subjects, err
}

// usual is the image of the most usual platform of an index, nil where it has
// none.
func usual(all []v1.Descriptor) *v1.Descriptor {
	var first *v1.Descriptor
	for i := range all {
		d := &all[i]
		switch {
		case d.Annotations[attestationType] != "" || !d.MediaType.IsImage():
		case d.Platform != nil && d.Platform.OS == "linux" && d.Platform.Architecture == "amd64":
			return d
		case first == nil:
			first = d
		}
	}
	return first
}

// manifest reads a manifest of the repository by its digest.
func (r *reading) manifest(digest string) (*manifest, error) {
	got, err := remote.Get(r.repo.Digest(digest), r.opts...)
	if err != nil {
		return nil, err
	}
	m := &manifest{}
	return m, json.Unmarshal(got.Manifest, m)
}

// labels are those of an image's configuration.
func (r *reading) labels(d *v1.Descriptor) (map[string]string, error) {
	var config struct {
		Config struct {
			Labels map[string]string `json:"Labels"`
		} `json:"config"`
	}
	text, err := r.blob(d)
	if err != nil {
		return nil, err
	}
	return config.Config.Labels, json.Unmarshal(text, &config)
}

// blob reads a blob; that it is the one of its digest is checked on the way.
func (r *reading) blob(d *v1.Descriptor) ([]byte, error) {
	if d.Size > maxBody {
		return nil, errLong
	}
	layer, err := remote.Layer(r.repo.Digest(d.Digest.String()), r.opts...)
	if err != nil {
		return nil, err
	}
	body, err := layer.Compressed()
	if err != nil {
		return nil, err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxBody+1))
	if err == nil && len(text) > maxBody {
		err = errLong
	}
	return text, err
}

// saidBy is what labels or annotations say.
func saidBy(labels map[string]string) gitopsOrigin {
	return clean(labels[revisionLabel], labels[sourceLabel], labels[builderLabel])
}

var revision = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._-]{0,99}$`)

// clean takes over what looks as it should.
func clean(commit, source, builder string) (o gitopsOrigin) {
	if revision.MatchString(commit) {
		o.Commit = commit
	}
	o.Source, o.BuiltBy = place(source), place(builder)
	return o
}

// place is a URL or a name, without a user's name and password.
func place(s string) string {
	s = oneLine(s, 300)
	if u, err := url.Parse(s); err == nil && u.User != nil {
		u.User = nil
		s = u.String()
	}
	return s
}

// errNoStatement says that what is attached is no provenance.
var errNoStatement = errors.New("it holds no statement of provenance")
