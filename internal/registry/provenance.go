package registry

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/fairlead-dev/fairlead/gitops"
)

// How BuildKit attaches provenance: as images of the index, each about another
// one.
const (
	attestationType = "vnd.docker.reference.type"
	attestationOf   = "vnd.docker.reference.digest"
)

// maxAttached bounds what is looked at of what is attached.
const maxAttached = 8

// gitopsOrigin is gitops.Origin, to which something can be added.
type gitopsOrigin gitops.Origin

// over is what it says, and what another says besides.
func (o gitopsOrigin) over(other gitopsOrigin) gitopsOrigin {
	return gitopsOrigin{Commit: cmp.Or(o.Commit, other.Commit), Source: cmp.Or(o.Source, other.Source), BuiltBy: cmp.Or(o.BuiltBy, other.BuiltBy)}
}

// attested is what the provenance says that is attached to an image: in its
// index, or as what refers to it. What cannot be read says nothing.
func (r *reading) attested(top *manifest, subjects []string) (out gitopsOrigin) {
	for _, d := range r.attachments(top, subjects) {
		m, err := r.manifest(d.Digest.String())
		if err != nil {
			continue
		}
		for i := range m.Layers[:min(len(m.Layers), maxAttached)] {
			out = out.over(r.provenance(&m.Layers[i], subjects))
		}
		if out.Commit != "" && out.BuiltBy != "" {
			return out
		}
	}
	return out
}

// attachments are what may hold provenance of an image.
func (r *reading) attachments(top *manifest, subjects []string) (out []v1.Descriptor) {
	for _, d := range top.Manifests {
		if d.Annotations[attestationType] == "attestation-manifest" && among(d.Annotations[attestationOf], subjects) {
			out = append(out, d)
		}
	}
	for _, digest := range subjects {
		index, err := remote.Referrers(r.repo.Digest(digest), r.opts...)
		if err != nil {
			continue
		}
		if m, err := index.IndexManifest(); err == nil {
			out = append(out, m.Manifests...)
		}
	}
	return out[:min(len(out), maxAttached)]
}

func among(s string, all []string) bool {
	for _, a := range all {
		if a == s {
			return true
		}
	}
	return false
}

// provenance reads a layer that may be a statement of provenance.
func (r *reading) provenance(d *v1.Descriptor, subjects []string) gitopsOrigin {
	kind := string(d.MediaType)
	if !strings.Contains(kind, "in-toto") && !strings.Contains(kind, "dsse") && !strings.Contains(kind, "sigstore.bundle") {
		return gitopsOrigin{}
	}
	text, err := r.blob(d)
	if err != nil {
		return gitopsOrigin{}
	}
	s, err := statementOf(text)
	if err != nil || !s.about(subjects) {
		return gitopsOrigin{}
	}
	return s.origin()
}

// envelope is how a statement may be wrapped: signed (DSSE), or in a bundle of
// Sigstore. Its signature is not checked: what it says counts as said by
// whoever may write to the registry.
type envelope struct {
	Payload string `json:"payload"`
	DSSE    *struct {
		Payload string `json:"payload"`
	} `json:"dsseEnvelope"`
}

// statementOf reads a statement, wrapped or not.
func statementOf(text []byte) (*statement, error) {
	var e envelope
	if err := json.Unmarshal(text, &e); err != nil {
		return nil, err
	}
	payload := e.Payload
	if e.DSSE != nil {
		payload = e.DSSE.Payload
	}
	if payload != "" {
		var err error
		if text, err = base64.StdEncoding.DecodeString(payload); err != nil {
			return nil, err
		}
	}
	s := &statement{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(s.Type, "https://slsa.dev/provenance/") {
		return nil, errNoStatement
	}
	return s, nil
}

// material is something that a build was made of.
type material struct {
	URI    string            `json:"uri"`
	Digest map[string]string `json:"digest"`
}

// commit is the Git commit of a material, "" where it is none.
func (m *material) commit() string { return cmp.Or(m.Digest["gitCommit"], m.Digest["sha1"]) }

// statement is one of in-toto about how images were built, as SLSA has it in
// its versions 0.2 and 1.
type statement struct {
	Type    string `json:"predicateType"`
	Subject []struct {
		Digest map[string]string `json:"digest"`
	} `json:"subject"`
	Predicate struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
		Invocation struct {
			ConfigSource material `json:"configSource"`
		} `json:"invocation"`
		Materials  []material `json:"materials"`
		RunDetails struct {
			Builder struct {
				ID string `json:"id"`
			} `json:"builder"`
		} `json:"runDetails"`
		BuildDefinition struct {
			Resolved []material `json:"resolvedDependencies"`
		} `json:"buildDefinition"`
		Metadata struct {
			BuildKit struct {
				VCS struct{ Revision, Source string } `json:"vcs"`
			} `json:"https://mobyproject.org/buildkit@v1#metadata"`
		} `json:"metadata"`
	} `json:"predicate"`
}

// about tells whether a statement is about one of some digests.
func (s *statement) about(digests []string) bool {
	for _, sub := range s.Subject {
		if among("sha256:"+sub.Digest["sha256"], digests) {
			return true
		}
	}
	return false
}

// origin is what a statement says: the builder, and the one commit that was
// built.
func (s *statement) origin() gitopsOrigin {
	p := &s.Predicate
	commit, source := p.Metadata.BuildKit.VCS.Revision, p.Metadata.BuildKit.VCS.Source
	all := append([]material{p.Invocation.ConfigSource}, append(p.BuildDefinition.Resolved, p.Materials...)...)
	for i := range all {
		if commit == "" && all[i].commit() != "" {
			commit, source = all[i].commit(), all[i].URI
		}
	}
	source, _, _ = strings.Cut(strings.TrimPrefix(source, "git+"), "@refs/")
	source, _, _ = strings.Cut(source, "#")
	return clean(strings.TrimSuffix(commit, "-dirty"), source, cmp.Or(p.RunDetails.Builder.ID, p.Builder.ID))
}
