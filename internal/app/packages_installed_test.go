package app

import (
	"path/filepath"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/demo"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// TestPackagesInstalledInApps opens pages of minimal apps, of the new front-end
// system and of the old one, that have the packed packages installed.
func TestPackagesInstalledInApps(t *testing.T) {
	realtest.Browser(t)
	built := realtest.UI(t, filepath.Join("..", "realtest", "ui.sh"), "installed")
	for _, system := range []string{"new", "old"} {
		t.Run(system, func(t *testing.T) {
			dir := t.TempDir()
			set, err := demo.Prepare(t.Context(), dir, "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			if err := set.ServeUI(filepath.Join(built, system, "dist"), "developer"); err != nil {
				t.Fatal(err)
			}
			s := &server{t: t, dir: dir, tokens: set.Tokens}
			s.start(set.Config)
			browse(t, s.url, "installed.cjs", nil)
		})
	}
}
