package local

import (
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/previews/previewstest"
)

func TestContract(t *testing.T) {
	eachMode(t, func(t *testing.T, mode string) {
		previewstest.Contract(t, func(t *testing.T) previewstest.Subject {
			d := newDeployer(t, Config{Isolation: mode}, nil)
			return previewstest.Subject{Deployer: d, Wish: wish("contract"), Another: strings.Repeat("b", 40), Restarted: func() previews.Deployer {
				return newDeployer(t, d.cfg, nil)
			}}
		})
	})
}
