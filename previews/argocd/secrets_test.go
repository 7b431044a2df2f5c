package argocd

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
)

// land is a cluster with at most one namespace and one Secret.
type land struct {
	Cluster
	ns, secret *Live
	put        []Secret
}

func (l *land) Namespace(context.Context, string) (*Live, error) { return found(l.ns) }

func (l *land) Secret(context.Context, string, string) (*Live, error) { return found(l.secret) }

func (l *land) PutSecret(_ context.Context, s Secret) error {
	l.put = append(l.put, s)
	l.secret = &Live{Labels: s.Labels}
	return nil
}

func found(l *Live) (*Live, error) {
	if l == nil {
		return nil, fault.New(fault.NotFound, "there is none")
	}
	return l, nil
}

// TestGives has what reaches data put into the preview's own namespace, and
// nowhere else.
func TestGives(t *testing.T) {
	const id = "checkout-a1b2c3d4e5f6"
	own := map[string]string{labelPreview: id}
	for name, c := range map[string]struct {
		ns, secret  *Live
		puts, stale bool
		want        fault.Code
	}{
		"no namespace yet":        {},
		"its namespace":           {ns: &Live{Labels: own}, puts: true, stale: true},
		"its namespace, ending":   {ns: &Live{Labels: own, DeletedAt: time.Now()}},
		"another's namespace":     {ns: &Live{Labels: map[string]string{labelPreview: "other"}}, want: fault.FailedPrecondition},
		"a namespace of nobody":   {ns: &Live{}, want: fault.FailedPrecondition},
		"another's Secret":        {ns: &Live{Labels: own}, secret: &Live{Labels: map[string]string{"app": "x"}}, stale: true, want: fault.FailedPrecondition},
		"its Secret of long ago":  {ns: &Live{Labels: own}, secret: &Live{Labels: own}, puts: true, stale: true},
		"its Secret, as it is to": {ns: &Live{Labels: own}, secret: &Live{Labels: map[string]string{labelPreview: id, labelVariables: digest([]string{"CACHE", "CACHE_PREFIX", "DATABASE_URL"})}}, puts: true},
	} {
		d, l := deployer(t, Config{Instance: "main"}), &land{ns: c.ns, secret: c.secret}
		d.opts.Instances["main"].Cluster, d.opts.Instances["main"].Secrets = l, l
		w := wish(t, Settings{})
		w.Template.Data = []previews.DataTemplate{{Name: "db", Kind: "postgres", Env: "DATABASE_URL"}, {Name: "cache", Kind: "redis", Env: "CACHE"}}
		w.Given = []previews.Given{{Env: "DATABASE_URL", Value: access.NewSecret("postgres://u:hidden-word@db/x")}}
		p, err := d.planOf(&w)
		if err != nil {
			t.Fatal(err)
		}
		o := previews.Observed{Ready: true}
		if err := p.given(t.Context(), &w, &o); c.want == "" && err != nil || o.Stale != c.stale || o.Ready && (c.secret == nil || c.stale) {
			t.Errorf("%s: seen as %+v, %v", name, o, err)
		}
		if err := p.give(t.Context(), &w); fault.CodeOf(err) != c.want || len(l.put) > 0 != c.puts {
			t.Errorf("%s: put %d, %v", name, len(l.put), err)
		}
		if c.puts && (l.put[0].Namespace != "preview-"+id || l.put[0].Labels[labelPreview] != id || len(l.put[0].Holds) != 1) {
			t.Errorf("%s: put %+v", name, l.put)
		}
	}
}

// TestCarries refuses data where the cluster is not at hand, and says what to
// do.
func TestCarries(t *testing.T) {
	d := deployer(t, Config{Instance: "main"})
	w := wish(t, Settings{Instance: "far"})
	if err := d.Carries(w); fault.CodeOf(err) != fault.FailedPrecondition || !strings.Contains(err.Error(), "Argo CD far") || !strings.Contains(fault.From(err).Fix, "kubeconfigFile") {
		t.Error(err)
	}
	d.opts.Instances["far"].Cluster, d.opts.Instances["far"].Secrets = &land{}, &land{}
	if err := d.Carries(w); err != nil {
		t.Error(err)
	}
	if err := d.Carries(wish(t, Settings{Instance: "nowhere"})); fault.CodeOf(err) != fault.FailedPrecondition {
		t.Error(err)
	}
}
