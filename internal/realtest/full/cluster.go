package main

import (
	"context"
	"net/http"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/demo"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// environments are where services are deployed to, and how applications and
// namespaces are called there.
var environments = map[string]struct{ suffix, namespace string }{
	"staging":    {"-staging", "shop-staging"},
	"production": {"", "shop"},
}

const argoKinds = "/apis/argoproj.io/v1alpha1/namespaces/argocd/"

// deploy has Argo CD deploy what the deploy repository says.
func (w *world) deploy(ctx context.Context) error {
	if err := w.argo.LetReach(strings.TrimPrefix(w.gitea.URL, "http://")); err != nil {
		return err
	}
	if err := w.letRead(ctx); err != nil {
		return err
	}
	everything := []any{map[string]string{"group": "*", "kind": "*"}}
	err := w.argo.AskKube(ctx, http.MethodPost, argoKinds+"appprojects", map[string]any{"apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject",
		"metadata": map[string]string{"name": organization, "namespace": "argocd"},
		"spec": map[string]any{"sourceRepos": []string{w.gitea.URL + "/" + organization + "/*"}, "clusterResourceWhitelist": everything,
			"destinations": []any{map[string]string{"server": realtest.InCluster, "namespace": "shop*"}}}}, nil)
	if err != nil {
		return err
	}
	n := 0
	for _, s := range demo.Services() {
		for environment := range environments {
			if !s.Deployed {
				continue
			}
			n++
			if err := w.application(ctx, s.Name, environment); err != nil {
				return err
			}
		}
	}
	w.say("Argo CD deploys %d applications", n)
	return nil
}

// letRead lets the account of Fairlead see the applications, beside what it may
// do to previews.
func (w *world) letRead(ctx context.Context) error {
	const path = "/api/v1/namespaces/argocd/configmaps/argocd-rbac-cm"
	var rights struct{ Data map[string]string }
	if err := w.argo.AskKube(ctx, http.MethodGet, path, nil, &rights); err != nil {
		return err
	}
	more := "p, role:previews, applications, get, " + organization + "/*, allow\n"
	return w.argo.AskKube(ctx, http.MethodPatch, path, map[string]any{"data": map[string]string{"policy.csv": rights.Data["policy.csv"] + more}}, nil)
}

// application has a service deployed to an environment.
func (w *world) application(ctx context.Context, service, environment string) error {
	to := environments[environment]
	return w.argo.AskKube(ctx, http.MethodPost, argoKinds+"applications", map[string]any{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
		"metadata": map[string]any{"name": service + to.suffix, "namespace": "argocd", "labels": map[string]string{"service": service, "environment": environment}},
		"spec": map[string]any{"project": organization,
			"source":      map[string]string{"repoURL": w.gitea.URL + "/" + organization + "/deploy", "targetRevision": "main", "path": "apps/" + service + "/overlays/" + environment},
			"destination": map[string]string{"server": realtest.InCluster, "namespace": to.namespace},
			"syncPolicy":  map[string]any{"automated": map[string]bool{"prune": true, "selfHeal": true}, "syncOptions": []string{"CreateNamespace=true"}}}}, nil)
}
