package command_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestChanges(t *testing.T) {
	const one = `{"id":"answer-why-1","kind":"answer","title":"Answer: Why?","service":"component:default/shop","state":"open","repository":"https://git.test/shop.git","base":"main","branch":"fairlead/answer-why-1","url":"https://git.test/shop/pulls/1","paths":["docs/answers/why.md"],"person":"user:default/alice","agent":"claude","plan":{"hash":"sha256:1","diff":"--- /dev/null\n+++ b/docs/answers/why.md\n+because\u001b[31m\n"},"checks":[{"name":"lint","state":"passed"}],"follow":{},"next":"Wait for people to review and merge it."}`
	sent := map[string]map[string]any{}
	f := serve(t, map[string]http.HandlerFunc{
		"/api/v1/proposals": func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				fmt.Fprint(w, `{"items":[`+one+`]}`)
				return
			}
			var body map[string]any
			json.NewDecoder(r.Body).Decode(&body)
			sent[fmt.Sprint(body["reason"])] = body
			fmt.Fprint(w, one)
		},
		"/api/v1/proposals/answer-why-1": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, one) },
		"/api/v1/knowledge/answers": func(w http.ResponseWriter, r *http.Request) {
			var body map[string]any
			json.NewDecoder(r.Body).Decode(&body)
			sent["answer"] = body
			fmt.Fprint(w, one)
		},
		"/api/v1/knowledge/skills": func(w http.ResponseWriter, r *http.Request) {
			var body map[string]any
			json.NewDecoder(r.Body).Decode(&body)
			sent["skill"] = body
			fmt.Fprint(w, one)
		},
	})
	file := filepath.Join(t.TempDir(), "answer.md")
	if err := os.WriteFile(file, []byte("Because.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args     []string
		code     int
		out, err string
	}{
		{[]string{"change", "list", "--state", "open"}, 0, "https://git.test/shop/pulls/1", ""},
		{[]string{"change", "show", "answer-why-1"}, 0, "+because", ""},
		{[]string{"change", "show", "nobody"}, 4, "", "there is no"},
		{[]string{"knowledge", "propose", "Why?", file, "--about", "shop", "--evidence", "a, b"}, 0, "fairlead/answer-why-1", ""},
		{[]string{"knowledge", "propose", "Why?", filepath.Join(t.TempDir(), "none"), "--about", "shop"}, 2, "", "cannot be read"},
		{[]string{"change", "propose", "shop", "staging", "--image", "acme/shop=2@sha256:0", "--reason", "image", "--evidence", "a, b", "--dry-run"}, 0, "open", ""},
		{[]string{"change", "propose", "shop", "staging", "--replicas", "0", "--file", "a.yaml", "--reason", "replicas"}, 0, "open", ""},
		{[]string{"change", "propose", "shop", "staging", "--set", "v.yaml:a.b=1.20", "--set", "c[name=x:y].d=on", "--set-string", "e=true", "--reason", "set"}, 0, "open", ""},
		{[]string{"change", "propose", "shop", "staging", "--set", "a", "--reason", "none"}, 2, "", "sets nothing"},
		{[]string{"change", "propose", "shop", "staging", "--image", "2"}, 2, "", "--reason"},
		{[]string{"knowledge", "promote", "doc://shop/docs/answers/why.md", "--allowed-tools", "Bash(make:*)", "--dry-run"}, 0, "open", ""},
	} {
		r := run(t, f.env(), "", c.args...)
		if r.code != c.code || !strings.Contains(r.out, c.out) || !strings.Contains(r.err, c.err) || strings.Contains(r.out, "\x1b") {
			t.Errorf("%s: %d\n%s\n%s", c.args, r.code, r.out, r.err)
		}
	}
	for what, want := range map[string]string{
		"image":    `{"change":{"image":{"digest":"sha256:0","name":"acme/shop","tag":"2"}},"dryRun":true,"environment":"staging","evidence":["a, b"],"reason":"image","service":"shop"}`,
		"replicas": `{"change":{"file":"a.yaml","replicas":0},"environment":"staging","reason":"replicas","service":"shop"}`,
		"set":      `{"change":{"set":[{"file":"v.yaml","path":"a.b","value":1.2},{"path":"c[name=x:y].d","value":"on"},{"path":"e","value":"true"}]},"environment":"staging","reason":"set","service":"shop"}`,
		"answer":   `{"answer":"Because.\n","appliesTo":["shop"],"evidence":["a, b"],"question":"Why?"}`,
		"skill":    `{"allowedTools":["Bash(make:*)"],"dryRun":true,"handle":"doc://shop/docs/answers/why.md"}`,
	} {
		if got, _ := json.Marshal(sent[what]); string(got) != want {
			t.Errorf("%s: sent %s", what, got)
		}
	}
}
