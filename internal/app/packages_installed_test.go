package app

import (
	"path/filepath"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// TestPackagesInstalledInApps opens pages of minimal apps, of the new front-end
// system and of the old one, that have the packed packages installed.
func TestPackagesInstalledInApps(t *testing.T) {
	realtest.Browser(t)
	built := realtest.UI(t, filepath.Join("..", "realtest", "ui.sh"), "installed")
	for _, system := range []string{"new", "old"} {
		t.Run(system, func(t *testing.T) {
			browse(t, startWithUI(t, filepath.Join(built, system, "dist"), "developer").url, "installed.cjs", nil)
		})
	}
}
