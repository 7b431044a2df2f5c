package previews

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// DataTemplate is a database or a cache of its own that a preview asks for, in
// its service's catalog file under spec.fairlead.preview.data.
type DataTemplate struct {
	// Name tells it from the others of the template; it is fit for a DNS label.
	Name string
	// Kind is postgres or redis.
	Kind string
	// Server names the server where it is made. A template may leave it out;
	// what is kept of an accepted preview has it.
	Server string
	// Seed is a file of statements that fill it, below the folder of the
	// service, "" for none. It is read at the preview's commit.
	Seed string
	// Env is the variable that the preview finds its URL in. With redis it finds
	// what its keys begin with in PrefixEnv.
	Env string
	// Optional lets a preview go without where there is no server for it.
	Optional bool
}

// PrefixEnv is the variable that tells what keys begin with.
func (d DataTemplate) PrefixEnv() string { return d.Env + "_PREFIX" }

// Envs are the variables that a preview is given of it.
func (d DataTemplate) Envs() []string {
	if d.Kind == "redis" {
		return []string{d.Env, d.PrefixEnv()}
	}
	return []string{d.Env}
}

// String names it for people.
func (d DataTemplate) String() string {
	return fmt.Sprintf("%s (%s at %s)", d.Name, d.Kind, d.Server)
}

// texts names data for people.
func texts(data []DataTemplate) []string {
	out := make([]string, len(data))
	for i, d := range data {
		out[i] = d.String()
	}
	return out
}

// DataObserved is what there is of a preview's data now.
type DataObserved struct {
	// Exists tells that anything of it is there, or that what somebody has begun
	// may still make it so.
	Exists bool
	// Ready tells that it is there and filled.
	Ready bool
	// Failed tells that it will not be of use any more.
	Failed bool
	// Reason says in a sentence why it is as it is.
	Reason string
	// Remains names what there is, for who awaits its end.
	Remains []string
}

// Data makes data of their own for previews, at one server. Every method may
// be called again at any time, by another process than before, and picks up
// where things stand.
type Data interface {
	// Provide makes it, or puts it right, and gives the URL by which the
	// preview uses it, the same each time. It returns when it is filled.
	Provide(ctx context.Context, w Wish, d DataTemplate) (access.Secret, error)
	// Observe tells what there is.
	Observe(ctx context.Context, w Wish, d DataTemplate) (DataObserved, error)
	// Remove removes everything of it; Observe tells when it is gone.
	Remove(ctx context.Context, w Wish, d DataTemplate) error
}

// Prefixed is Data whose every key must begin with a text, because previews
// share what it is in. The preview finds the text in the variable PrefixEnv.
type Prefixed interface {
	// Prefix is what keys begin with, the same each time.
	Prefix(w Wish, d DataTemplate) string
}

// DataServer is a server where previews' data is made.
type DataServer struct {
	// Kind is the kind of its data, and Name tells servers of a kind apart.
	Kind, Name string
	// Data makes it.
	Data Data
}

// Given is a variable that a preview is started with and whose value nobody
// else may see: the URL of its data, or what its keys begin with.
type Given struct {
	Env   string
	Value access.Secret
}

// Carrier is a Deployer that starts previews with what is given to them. Those
// that are none refuse previews with data of their own.
type Carrier interface {
	// Carries is nil where it passes on what a wish is given, else the reason
	// why it does not, as a failed_precondition.
	Carries(w Wish) error
}

// serverOf finds the server of a kind and name, the first of its kind where no
// name is given.
func serverOf(servers []DataServer, kind, name string) (DataServer, bool) {
	i := slices.IndexFunc(servers, func(s DataServer) bool { return s.Kind == kind && (name == "" || s.Name == name) })
	if i < 0 {
		return DataServer{}, false
	}
	return servers[i], true
}

// settleData finds the servers of what a template asks for, and leaves out
// what it can do without. It refuses where there is none, or where the
// deployer would not pass it on.
func (s *Service) settleData(e *catalog.Entity, t *Template) error {
	var settled []DataTemplate
	for _, d := range t.Data {
		at, ok := serverOf(s.cfg.Data, d.Kind, d.Server)
		switch {
		case ok:
			d.Server = at.Name
			settled = append(settled, d)
		case !d.Optional:
			return s.noServer(e, d)
		}
	}
	t.Data = settled
	if len(t.Data) == 0 {
		return nil
	}
	if c, ok := s.cfg.Deployers[t.Deployer].(Carrier); ok {
		return c.Carries(Wish{Service: e.Ref.String(), Template: *t})
	}
	return fault.New(fault.FailedPrecondition, "%s: the preview of %s asks for data of its own, and the deployer %s passes none on", place(e, dataAt(e, t.Data[0].Name)), e.Ref, t.Deployer).
		WithFix("Have it deployed by a deployer that does, such as local or argocd, or take data out of spec.fairlead.preview.")
}

func (s *Service) noServer(e *catalog.Entity, d DataTemplate) error {
	what, have := "kind "+d.Kind, map[string]bool{}
	if d.Server != "" {
		what += " and name " + d.Server
	}
	for _, at := range s.cfg.Data {
		have[at.Kind+" "+at.Name] = true
	}
	known := "none is"
	if len(have) > 0 {
		known = strings.Join(slices.Sorted(maps.Keys(have)), ", ") + " is"
	}
	return fault.New(fault.FailedPrecondition, "%s: the preview of %s asks for %s, and no server of %s is configured here; %s", place(e, dataAt(e, d.Name)), e.Ref, d.Name, what, known).
		WithFix("Have the operators add previews.data.%s to the configuration, or write optional: true where the service does without.", d.Kind)
}
