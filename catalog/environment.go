package catalog

import (
	"context"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// DescribeEnvironmentInput names a service and one of its environments.
type DescribeEnvironmentInput struct {
	Service, Environment string
}

// EnvironmentPlace is where an environment of a service is described: the
// repository and the folder or file in it.
type EnvironmentPlace struct {
	Entity *Entity
	// Environment is its fact: name, path, whether it is protected.
	Environment Fact
	// Repository is the fact of the deploy repository.
	Repository Fact
}

// DescribeEnvironment tells where an environment of a service is described, as
// the service's own file declares it, else as repositories that the caller may
// be told of describe it. Faults: those of GetEntity, not_found where there is no
// such environment, failed_precondition where it is not known in which
// repository or folder it is, with the lines to add.
func (s *Service) DescribeEnvironment(ctx context.Context, who access.Caller, in DescribeEnvironmentInput) (*EnvironmentPlace, error) {
	e, err := s.GetEntity(ctx, who, GetEntityInput{Ref: in.Service})
	if err != nil {
		return nil, err
	}
	b, _ := s.known(s.reading(who), e, "")
	if len(b.Environments) == 0 {
		return nil, undeclared(e, "it is not known where %s is deployed", e.Ref).WithFix("Add to its catalog file:\n%s", linesToAdd(e, in.Environment, true))
	}
	env, err := environmentOf(b, in.Environment)
	if err != nil {
		return nil, err
	}
	switch {
	case env.Path == "":
		return nil, undeclared(e, "it is not known which folder of the deploy repository describes %s of %s", env.Name, e.Ref).
			WithFix("Give the environment its path in %s:\n%s", orFile(e), linesToAdd(e, env.Name, b.DeployRepo == nil))
	case b.DeployRepo == nil, env.Kind == Inferred && b.DeployRepo.Kind == Inferred && env.Source.Repo != b.DeployRepo.Source.Repo:
		return nil, undeclared(e, "it is not known which repository describes %s of %s", env.Name, e.Ref).
			WithFix("Add to %s:\n%s", orFile(e), linesToAdd(e, env.Name, true))
	}
	return &EnvironmentPlace{Entity: e, Environment: *env, Repository: *b.DeployRepo}, nil
}

func undeclared(e *Entity, format string, args ...any) *fault.Error {
	return fault.New(fault.FailedPrecondition, format, args...).WithDetail("file", e.From.Path)
}

func orFile(e *Entity) string {
	if e.From.Path != "" {
		return e.From.Path
	}
	return "its catalog file"
}

// linesToAdd are what declares an environment.
func linesToAdd(e *Entity, environment string, repo bool) string {
	if environment = oneLine(environment); environment == "" {
		environment = "production"
	}
	lines := []string{"spec:", "  fairlead:"}
	if repo {
		lines = append(lines, "    deployRepo: https://git.example.com/acme/deploy.git")
	}
	return strings.Join(append(lines, "    environments:", "      - {name: "+environment+", path: apps/"+e.Ref.Name+"/overlays/"+environment+"}"), "\n")
}

// environmentOf is the environment of a name.
func environmentOf(b *Brief, name string) (*Fact, error) {
	var known []string
	for i := range b.Environments {
		if strings.EqualFold(b.Environments[i].Name, strings.TrimSpace(name)) {
			return &b.Environments[i], nil
		}
		known = append(known, b.Environments[i].Name)
	}
	missing := fault.New(fault.NotFound, "%s has no environment %.80q", b.Ref, name)
	if len(known) == 0 {
		return nil, missing.WithFix("Declare its environments under spec.fairlead.environments.")
	}
	return nil, missing.WithFix("There is %s.", strings.Join(known[:min(len(known), 20)], ", "))
}
