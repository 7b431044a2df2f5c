package gitops

import (
	"context"
	"path"
	"regexp"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// site is where an environment of a service is described, and how.
type site struct {
	// ref and name are the service's, env is the environment's name.
	ref, name, env string
	entity         *catalog.Entity
	protected      bool
	// at is the place; its folder may be one file.
	at     Place
	render *Render
	// app is the application that deploys it, "" where that is not known, and
	// source the one of its sources that is meant.
	app    string
	source AppSource
	notes  []string
}

// locate finds where an environment is described: as the catalog says, with the
// branch that Argo CD follows; else as the application of Argo CD says. Faults:
// those of DescribeEnvironment, and failed_precondition where the application
// follows no branch, or what is deployed is in no file.
func (s *Service) locate(ctx context.Context, who access.Caller, service, environment string) (*site, error) {
	found, err := s.cfg.Catalog.DescribeEnvironment(ctx, who, catalog.DescribeEnvironmentInput{Service: service, Environment: environment})
	if err != nil && fault.CodeOf(err) != fault.FailedPrecondition {
		return nil, err
	}
	var live *LiveApplication
	var liveErr error
	if s.cfg.Lives != nil {
		live, liveErr = s.cfg.Lives.Live(ctx, who, LiveInput{service, environment})
	}
	switch {
	case err == nil:
		return s.declared(found, live)
	case live != nil:
		return s.deployed(ctx, live)
	case s.cfg.Lives != nil && fault.CodeOf(liveErr) == fault.Unavailable:
		return nil, liveErr // it is said which application, and that cannot be asked
	}
	return nil, err
}

// declared is the site that the catalog declares; what an application has else
// to say of it is noted.
func (s *Service) declared(found *catalog.EnvironmentPlace, live *LiveApplication) (*site, error) {
	env := found.Environment
	out := &site{entity: found.Entity, ref: found.Entity.Ref.String(), name: found.Entity.Ref.Name, env: env.Name, protected: env.Protected}
	dir, err := below("", env.Path)
	if err != nil {
		return nil, fault.New(fault.FailedPrecondition, "the path %q of %s of %s is none within the deploy repository", clip(env.Path, 200), env.Name, found.Entity.Ref).
			WithFix("Correct it in %s, line %d.", env.Source.Path, env.Source.Line)
	}
	branch := ""
	if live != nil {
		out.app = live.Name
		if source := live.from(found.Repository.Value, dir); source != nil {
			if branch, err = source.branch(live); err != nil {
				return nil, err
			}
			out.source = *source
		} else if len(live.Sources) > 0 {
			out.notes = append(out.notes, "the catalog says that "+env.Name+" is described in "+orRoot(dir)+" of "+plainRepo(found.Repository.Value)+", and Argo CD's application "+live.Name+" deploys from "+live.places()+": the catalog is followed")
		}
	}
	if out.at, err = s.cfg.Repositories.Named(found.Repository.Value, branch); err != nil {
		return nil, fault.From(err).Because(err)
	}
	out.at.Dir = dir
	out.renders(live, env.App)
	return out, nil
}

// deployed is the site that an application deploys from.
func (s *Service) deployed(ctx context.Context, live *LiveApplication) (*site, error) {
	source, dir, err := live.described()
	if err != nil {
		return nil, err
	}
	branch, err := source.branch(live)
	if err != nil {
		return nil, err
	}
	out := &site{entity: live.Entity, ref: live.Entity.Ref.String(), name: live.Entity.Ref.Name, env: live.Environment.Name, protected: live.Environment.Protected, app: live.Name, source: *source}
	if out.at, err = s.cfg.Repositories.Named(source.Repository, branch); err != nil {
		f := fault.From(err)
		return nil, fault.New(f.Code, "Argo CD's application %s deploys %s from %s: %s", live.Name, out.env, source.Repository, f.Message).WithFix("%s", f.Fix).Because(err)
	}
	out.at.Dir = dir
	if _, base, err := s.cfg.Repositories.Open(ctx, out.at); err != nil {
		return nil, unfollowed(err, live, source)
	} else if out.at.Base == "" {
		out.at.Base = base.Branch
	}
	out.notes = append(out.notes, "the catalog does not say where "+out.env+" is described; Argo CD's application "+live.Name+" deploys from "+orRoot(dir)+" of "+source.Repository)
	out.renders(live, "")
	return out, nil
}

// unfollowed words that a branch could not be read.
func unfollowed(err error, live *LiveApplication, source *AppSource) error {
	if f := fault.From(err); f.Code != fault.NotFound && f.Code != fault.FailedPrecondition {
		return err
	}
	return fault.New(fault.FailedPrecondition, "Argo CD's application %s follows %q of %s, which is no branch that can be read", live.Name, clip(source.Target, 100), source.Repository).
		WithFix("A change can be proposed to a branch alone: have the application follow one, or declare deployRepo and the environment's path in the catalog.").Because(err)
}

var commitLike = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// branch is the branch that a source follows, "" for the default one.
func (a *AppSource) branch(live *LiveApplication) (string, error) {
	target := strings.TrimPrefix(a.Target, "refs/heads/")
	switch {
	case target == "" || target == "HEAD":
		return "", nil
	case commitLike.MatchString(target) || strings.HasPrefix(target, "refs/"):
		return "", fault.New(fault.FailedPrecondition, "Argo CD's application %s is fixed to %s of %s, which is no branch: a change of the files there would not be deployed", live.Name, clip(a.Target, 100), a.Repository).
			WithFix("Change the application's targetRevision, where that is written.")
	}
	return target, nil
}

// from is the source of an application that is at a place, nil where none is.
func (l *LiveApplication) from(repository, dir string) *AppSource {
	for i := range l.Sources {
		s := &l.Sources[i]
		at := strings.TrimPrefix(path.Clean("/"+s.Path), "/")
		near := s.Path != "" && (at == dir || path.Dir(dir) == at && isYAML(dir))
		if sameRepository(s.Repository, repository) && (near || s.Ref != "" && l.takes(s.Ref, dir)) {
			return s
		}
	}
	return nil
}

// takes tells whether values are taken from a place of the source of a name.
func (l *LiveApplication) takes(ref, dir string) bool {
	for _, file := range l.referred(ref) {
		if file == dir || strings.HasPrefix(file, dir+"/") || dir == "" {
			return true
		}
	}
	return false
}

// referred are the files of values that sources take from the one of a name.
func (l *LiveApplication) referred(ref string) (out []string) {
	for _, s := range l.Sources {
		for _, file := range s.Values {
			if rest, ok := strings.CutPrefix(file, "$"+ref+"/"); ok {
				out = append(out, strings.TrimPrefix(path.Clean("/"+rest), "/"))
			}
		}
	}
	return out
}

// described is the one source whose files say what is deployed, and the folder
// or file in it.
func (l *LiveApplication) described() (*AppSource, string, error) {
	var at []*AppSource
	var dirs []string
	for i := range l.Sources {
		s := &l.Sources[i]
		if s.Chart != "" {
			continue
		}
		if s.Path != "" {
			at, dirs = append(at, s), append(dirs, strings.TrimPrefix(path.Clean("/"+s.Path), "/"))
		} else if files := l.referred(s.Ref); s.Ref != "" && len(files) == 1 {
			at, dirs = append(at, s), append(dirs, files[0])
		} else if len(files) > 1 && s.Ref != "" {
			at, dirs = append(at, s), append(dirs, common(files))
		}
	}
	switch len(at) {
	case 1:
		return at[0], dirs[0], nil
	case 0:
		return nil, "", fault.New(fault.FailedPrecondition, "Argo CD's application %s deploys from %s, and no file of a Git repository says what", l.Name, l.places()).
			WithFix("Change it in the Application itself, where that is written.")
	}
	return nil, "", fault.New(fault.FailedPrecondition, "Argo CD's application %s deploys from %d places: %s", l.Name, len(at), l.places()).
		WithFix("Declare deployRepo and the environment's path in the service's catalog file, so that it is clear which is meant.")
}

// common is the folder that files have in common.
func common(files []string) string {
	dir := path.Dir(files[0])
	for _, f := range files {
		for dir != "." && !strings.HasPrefix(f, dir+"/") {
			dir = path.Dir(dir)
		}
	}
	return strings.TrimPrefix(dir, ".")
}

// places are where an application deploys from, for people.
func (l *LiveApplication) places() string {
	var out []string
	for _, s := range l.Sources {
		what := orRoot(strings.TrimPrefix(path.Clean("/"+s.Path), "/"))
		switch {
		case s.Chart != "":
			what = "the chart " + s.Chart
		case s.Path == "":
			what = "values"
		}
		out = append(out, what+" of "+s.Repository)
	}
	return clip(strings.Join(out, ", "), 400)
}
