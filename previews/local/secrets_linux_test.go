package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
)

// TestGivenSecrets has a preview find what it is given in its environment, and
// nobody find it elsewhere, not even where the preview writes it to its log.
func TestGivenSecrets(t *testing.T) {
	eachMode(t, func(t *testing.T, mode string) {
		const password = "canary-0123456789-abcdef"
		const url = "postgres://pv_x_db:" + password + "@127.0.0.1:5432/pv_x_db"
		d := newDeployer(t, Config{Isolation: mode}, nil)
		w := wish("given-"+mode, "/bin/sh", "-c", `echo "url $DATABASE_URL"; echo "password ${DATABASE_URL#*db:}"; exec ./app`)
		w.Template.Data = []previews.DataTemplate{{Name: "db", Kind: "postgres", Env: "DATABASE_URL"}}
		if err := d.Apply(t.Context(), w); fault.CodeOf(err) != fault.Internal {
			t.Errorf("started without its data: %v", err)
		}
		w.Given = []previews.Given{{Env: "DATABASE_URL", Value: access.NewSecret(url)}}
		apply(t, d, w)
		untilReady(t, d, w)
		if env := mustGet(t, d, w.ID, "/env"); !strings.Contains(env, "DATABASE_URL="+url+"\n") {
			t.Errorf("its environment is %s", env)
		}
		f, err := d.folder(w.ID)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		err = filepath.WalkDir(string(f), func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if strings.Contains(string(data), "canary") {
				t.Errorf("%s has the password", path)
			}
			found++
			return err
		})
		if err != nil || found < 4 {
			t.Errorf("%d files, %v", found, err)
		}
		commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range commands {
			if line, _ := os.ReadFile(path); strings.Contains(string(line), password) {
				t.Errorf("%s has the password", path)
			}
		}
		lines, err := d.Logs(t.Context(), w, 10)
		if err != nil || len(lines) < 2 || lines[0].Text != "url [secret]" || !strings.Contains(lines[1].Text, "password [secret]@") {
			t.Errorf("its log is %v, %v", lines, err)
		}
		was := mustGet(t, d, w.ID, "/env")
		if err := d.Apply(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		if now := mustGet(t, d, w.ID, "/env"); now != was {
			t.Error("applied again, it was started anew")
		}
		w.Given[0].Value = access.NewSecret(url + "?sslmode=disable")
		if err := d.Apply(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		untilReady(t, d, w)
		if env := mustGet(t, d, w.ID, "/env"); !strings.Contains(env, "?sslmode=disable\n") {
			t.Errorf("given something else, its environment is %s", env)
		}
		untilGone(t, d, w)
	})
}
