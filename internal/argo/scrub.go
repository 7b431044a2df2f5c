package argo

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"gopkg.in/yaml.v3"
)

// scrubber takes out of messages what an application sets: values, parameters,
// environment. Tools that render manifests quote their command lines when they
// fail.
type scrubber struct {
	mask *strings.Replacer
}

// minSecret is the size in bytes of the smallest value that is taken for one.
const minSecret = 4

// command is a command line that a message quotes.
var command = regexp.MustCompile("`[^`]*`")

func newScrubber(app *v1alpha1.Application) *scrubber {
	values := map[string]bool{}
	for _, s := range allSources(app) {
		collect(values, s.Helm)
		collect(values, s.Kustomize)
		collect(values, s.Directory)
		collect(values, s.Plugin)
		if u, err := url.Parse(s.RepoURL); err == nil && u.User != nil {
			password, _ := u.User.Password()
			values[password], values[u.User.Username()] = true, true
		}
	}
	for _, i := range app.Spec.Info {
		values[i.Value] = true
	}
	public := publicOf(app)
	var secrets []string
	for v := range values {
		if len(v) >= minSecret && !public[v] && !plainWord(v) {
			secrets = append(secrets, v, base64.StdEncoding.EncodeToString([]byte(v)), url.QueryEscape(v))
		}
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, s := range slices.Compact(secrets) {
		pairs = append(pairs, s, "***")
	}
	return &scrubber{strings.NewReplacer(pairs...)}
}

// allSources are those of the application and of what is or was done with it.
func allSources(app *v1alpha1.Application) v1alpha1.ApplicationSources {
	all := slices.Clone(app.Spec.GetSources())
	add := func(one *v1alpha1.ApplicationSource, several v1alpha1.ApplicationSources) {
		if one != nil {
			all = append(all, *one)
		}
		all = append(all, several...)
	}
	if op := app.Operation; op != nil && op.Sync != nil {
		add(op.Sync.Source, op.Sync.Sources)
	}
	if op := app.Status.OperationState; op != nil {
		if op.Operation.Sync != nil {
			add(op.Operation.Sync.Source, op.Operation.Sync.Sources)
		}
		if op.SyncResult != nil {
			add(&op.SyncResult.Source, op.SyncResult.Sources)
		}
	}
	for i := range app.Status.History {
		add(&app.Status.History[i].Source, app.Status.History[i].Sources)
	}
	return all
}

// collect adds all texts of a part of a source, and those of the YAML that a
// text holds.
func collect(into map[string]bool, part any) {
	text, err := json.Marshal(part)
	if err != nil {
		return
	}
	var v any
	if json.Unmarshal(text, &v) == nil {
		leaves(into, v, 0)
	}
}

func leaves(into map[string]bool, v any, depth int) {
	if depth > 50 {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, each := range v {
			leaves(into, each, depth+1)
		}
	case []any:
		for _, each := range v {
			leaves(into, each, depth+1)
		}
	case string:
		into[v] = true
		for l := range strings.Lines(v) {
			into[strings.TrimSpace(l)] = true
			if _, value, ok := strings.Cut(l, "="); ok {
				into[strings.TrimSpace(value)] = true
			}
		}
		var inner any
		if strings.ContainsAny(v, ":\n") && yaml.Unmarshal([]byte(v), &inner) == nil {
			if _, same := inner.(string); !same {
				leaves(into, inner, depth+1)
			}
		}
	}
}

// publicOf are texts that are told anyhow.
func publicOf(app *v1alpha1.Application) map[string]bool {
	out := map[string]bool{app.Name: true, app.Namespace: true, app.Spec.Project: true, app.Spec.Destination.Namespace: true, app.Spec.Destination.Name: true}
	for i := range app.Status.Resources {
		out[app.Status.Resources[i].Name], out[app.Status.Resources[i].Kind] = true, true
	}
	for _, image := range app.Status.Summary.Images {
		i := imageOf(image)
		out[image], out[i.Name], out[i.Tag], out[i.Digest] = true, true, true, true
		out[i.Name+":"+i.Tag] = true
	}
	return out
}

// plainWord tells what can be no secret.
func plainWord(s string) bool {
	return slices.Contains([]string{"true", "false", "null", "none", "default"}, strings.ToLower(s)) || len(s) < 6 && strings.Trim(s, "0123456789.") == ""
}

// text is a message without the values, and without command lines; nil lets no
// message pass.
func (s *scrubber) text(message string) string {
	if s == nil || message == "" {
		return ""
	}
	return s.mask.Replace(command.ReplaceAllStringFunc(message, func(quoted string) string {
		if strings.Contains(quoted, " ") {
			return "`…`"
		}
		return quoted
	}))
}
