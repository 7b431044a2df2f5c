package catalog

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Checker is an Ingestion that can look at an entity which is in no source.
type Checker interface {
	// Check tells what is wrong with an entity as if it stood at a URL.
	Check(ctx context.Context, at string, root *entity.Object) []Problem
	// Forge is the software that serves a host, such as github; "" where
	// nothing is known of it.
	Forge(host string) string
}

// ValidateEntityInput is an entity to check.
type ValidateEntityInput struct {
	// Entity is a JSON object in the form of a catalog file's document.
	Entity json.RawMessage
	// Location is the URL at which it would stand.
	Location string
}

// Validation is what is wrong with an entity.
type Validation struct {
	// Problems are in the order of the entity; none means that it is right.
	Problems []Problem
}

// ValidateEntity checks an entity by what holds for catalog files; it keeps
// nothing. Faults: invalid, where there is no object to check, and
// unavailable.
func (s *Service) ValidateEntity(ctx context.Context, who access.Caller, in ValidateEntityInput) (*Validation, error) {
	if s.reading(who).scope.None() {
		return nil, fault.New(fault.Forbidden, "you may not read the catalog")
	}
	v, err := entity.ParseJSON(in.Entity)
	root, ok := v.(*entity.Object)
	if err != nil || !ok {
		return nil, fault.New(fault.Invalid, "the entity is no JSON object").WithFix("Send apiVersion, kind, metadata and spec.")
	}
	check, err := s.checker()
	if err != nil {
		return nil, err
	}
	return &Validation{Problems: check.Check(ctx, in.Location, root)}, nil
}

func (s *Service) checker() (Checker, error) {
	ing, err := s.ingest()
	if err != nil {
		return nil, err
	}
	if c, ok := ing.(Checker); ok {
		return c, nil
	}
	return nil, fault.New(fault.Unavailable, "entities cannot be checked here")
}

// AnalyzeLocationInput is a place that may hold catalog files.
type AnalyzeLocationInput struct {
	// Target is the URL of a repository or of a file in one.
	Target string
}

// Analysis is what is known of a place.
type Analysis struct {
	// Existing are the entities in scope that come from it, by reference.
	Existing []*Entity
	// Name is the repository's, Owner whoever it belongs to, with slashes
	// between nested groups.
	Owner, Name string
	// Forge is the software that serves it, such as github; "" where nothing
	// is known.
	Forge string
}

// AnalyzeLocation tells what the catalog has from a repository or file, and
// what the repository is called. It reads nothing but the catalog. Faults:
// invalid, where the target is no URL.
func (s *Service) AnalyzeLocation(_ context.Context, who access.Caller, in AnalyzeLocationInput) (*Analysis, error) {
	r := s.reading(who)
	if r.scope.None() {
		return nil, fault.New(fault.Forbidden, "you may not read the catalog")
	}
	at, err := url.Parse(in.Target)
	if err != nil || at.Host == "" || !slices.Contains([]string{"http", "https", "ssh", "git"}, at.Scheme) {
		return nil, fault.New(fault.Invalid, "The given location.target is not a URL").WithFix("Give the address of a repository or of a file in one.")
	}
	out := &Analysis{}
	out.Owner, out.Name = repositoryIn(at.Path)
	if check, err := s.checker(); err == nil {
		out.Forge = check.Forge(at.Host)
	}
	out.Existing, _, err = r.Arrange(r.scope, index.Arrangement{Where: from(in.Target), Limit: -1})
	return out, err
}

// from holds for what comes from a file, or from a file below an address.
func from(target string) *index.Predicate {
	const key = "metadata.annotations.backstage.io/managed-by-location"
	target = strings.TrimSuffix(strings.TrimSuffix(target, "/"), ".git")
	return index.Either(index.Equals(key, "url:"+target), index.Prefix(key, "url:"+target+"/"))
}

// repositoryIn finds a repository's name and owner in the path of a URL.
func repositoryIn(path string) (owner, name string) {
	parts := slices.DeleteFunc(strings.Split(path, "/"), func(s string) bool { return s == "" })
	if i := slices.Index(parts, "_git"); i > 0 && i+1 < len(parts) { // Azure: organization/project/_git/repository
		return parts[i-1], parts[i+1]
	}
	for i, p := range parts {
		if i >= 2 && slices.Contains([]string{"-", "blob", "tree", "raw", "edit", "_edit", "src"}, p) {
			parts = parts[:i]
			break
		}
	}
	if len(parts) == 0 {
		return "", ""
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], "/"), strings.TrimSuffix(parts[last], ".git")
}
