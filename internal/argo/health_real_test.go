package argo

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/gitopstest"
	"github.com/fairlead-dev/fairlead/internal/argo/instance"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// client is one of a real Argo CD, without a kubeconfig.
func client(t testing.TB, a *realtest.Argo) *Client {
	t.Helper()
	c, err := Dial(instance.Config{Name: "main", Server: a.Server.Address, TokenFile: a.TokenFile, CAFile: a.CAFile})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// deployed makes an application of a repository that is synced by itself, and
// gives its name. change may change it beforehand.
func deployed(t testing.TB, a *realtest.Argo, r *realtest.Repository, change func(app map[string]any)) string {
	t.Helper()
	name := "app-" + strings.ToLower(rand.Text()[:10])
	app := map[string]any{
		"metadata": map[string]any{"name": name, "labels": map[string]string{"app": name}},
		"spec": map[string]any{"project": a.Project(t), "destination": map[string]any{"server": realtest.InCluster, "namespace": name},
			"source":     map[string]any{"repoURL": r.URL, "path": "deploy", "targetRevision": "main"},
			"syncPolicy": map[string]any{"automated": map[string]any{"prune": true}, "syncOptions": []string{"CreateNamespace=true"}}},
	}
	if change != nil {
		change(app)
	}
	if status := a.API(t, http.MethodPost, "/api/v1/applications", app, nil); status != http.StatusOK {
		t.Fatalf("making the application: status %d", status)
	}
	t.Cleanup(func() { a.API(t, http.MethodDelete, "/api/v1/applications/"+name+"?cascade=true", nil, nil) })
	return name
}

// pushed commits files and has Argo CD hear of it, as by a webhook.
func pushed(t testing.TB, a *realtest.Argo, r *realtest.Repository, name string, files map[string]string) string {
	t.Helper()
	revision := r.Commit(t, files)
	a.API(t, http.MethodGet, "/api/v1/applications/"+name+"?refresh=normal", nil, nil)
	return revision
}

func TestArgoCDDeploymentsContract(t *testing.T) {
	gitopstest.Contract(t, func(t *testing.T) *gitopstest.Subject {
		a := realtest.ArgoCD(t)
		r := a.Repository(t, map[string]string{"deploy/web.yaml": realtest.Web("web:1")})
		name := deployed(t, a, r, nil)
		c := client(t, a)
		return &gitopstest.Subject{Deployments: c, Listing: c, At: gitops.AppName{Name: name}, Selector: "app=" + name, Revision: r.Head(t), Image: "web:1",
			Another: "web:2", Broken: realtest.ImageMissing + ":1", Within: 2 * time.Minute,
			Deploy: func(t *testing.T, image string) string {
				return pushed(t, a, r, name, map[string]string{"deploy/web.yaml": realtest.Web(image)})
			}}
	})
}

// TestArgoCDValuesOfAnApplicationStay plants values in each place of an
// application's sources that Argo CD has, has a chart quote some of them in its
// error, and looks for them in all that the room is given.
func TestArgoCDValuesOfAnApplicationStay(t *testing.T) {
	a := realtest.ArgoCD(t)
	canary := func(n int) string { return fmt.Sprintf("canary%dof%s", n, strings.ToLower(rand.Text()[:8])) }
	params, values, object, info, password := canary(1), canary(2), canary(3), canary(4), canary(5)
	planted := []string{params, values, object, info, password}
	chart := map[string]string{"deploy/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n",
		"deploy/templates/web.yaml": strings.ReplaceAll(realtest.Web("web:1"), `"web:1"`, `"web:1", env: [{name: A, value: {{ .Values.param }}}, {name: B, value: {{ .Values.text }}}, {name: C, value: {{ .Values.deep.object | default "x" }}}]`)}
	r := a.Repository(t, chart)
	name := deployed(t, a, r, func(app map[string]any) {
		spec := app["spec"].(map[string]any)
		spec["info"] = []map[string]string{{"name": "note", "value": info}}
		spec["source"].(map[string]any)["helm"] = map[string]any{"parameters": []map[string]string{{"name": "param", "value": params}}, "values": "text: " + values + "\n",
			"valuesObject": map[string]any{"text": values, "deep": map[string]string{"object": object, "password": password}}}
	})
	c := client(t, a)
	search := func(what string, v any) {
		t.Helper()
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range planted {
			if strings.Contains(string(text), p) {
				t.Errorf("%s passes a value: %s", what, text)
			}
		}
	}
	at := gitops.AppName{Name: name}
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		app, err := c.Application(t.Context(), at, false)
		search("the application", app)
		if err == nil && app.Health == "Healthy" && app.Sync == "Synced" {
			s := app.Sources[0]
			if names := fmt.Sprint(s.Overrides); s.Path != "deploy" || names != "[{helm.parameters param} {helm.values deep.object} {helm.values deep.password} {helm.values text}]" {
				t.Errorf("what the application sets: %s of %+v", names, s)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v %v", app, err)
		}
	}
	running, err := c.Running(t.Context(), at)
	if err != nil || len(running.Images) != 1 {
		t.Errorf("%+v %v", running, err)
	}
	search("what runs", running)
	wanted, err := c.Wanted(t.Context(), at, []string{r.Head(t)})
	if err != nil || len(wanted) != 1 {
		t.Errorf("%+v %v", wanted, err)
	}
	search("what is wanted", wanted)

	pushed(t, a, r, name, map[string]string{"deploy/templates/fail.yaml": `{{ fail (printf "no such thing: %s %s %s %s" .Values.param .Values.text .Values.deep.object .Values.deep.password) }}`})
	quoted := a.API(t, http.MethodGet, "/api/v1/applications/"+name+"?refresh=hard", nil, nil)
	var raw struct {
		Status struct {
			Conditions []struct{ Message string }
		}
	}
	a.API(t, http.MethodGet, "/api/v1/applications/"+name, nil, &raw)
	if len(raw.Status.Conditions) == 0 || !strings.Contains(raw.Status.Conditions[0].Message, object) {
		t.Fatalf("Argo CD quotes no value (%d): %+v", quoted, raw)
	}
	app, err := c.Application(t.Context(), at, false)
	if err != nil || len(app.Troubles) == 0 || !app.Troubles[0].Blind || !strings.Contains(app.Troubles[0].Message, "no such thing") {
		t.Errorf("%+v %v", app, err)
	}
	search("its trouble", app)
	if _, err = c.Wanted(t.Context(), at, []string{r.Head(t)}); err == nil {
		t.Error("it is rendered")
	}
	search("the error", fault.From(err))
}
