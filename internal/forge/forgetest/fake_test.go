package forgetest_test

import (
	"context"
	"testing"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/gitopstest"
	"github.com/fairlead-dev/fairlead/internal/forge"
	"github.com/fairlead-dev/fairlead/internal/forge/forgetest"
)

var _ forge.Commenter = (*gitopstest.Forge)(nil)

// TestFake holds what stands for a forge in tests to what the real ones do.
func TestFake(t *testing.T) {
	f := gitopstest.NewForge(t, map[string]string{"README.md": "x\n"})
	f.People = []string{"rita"}
	forgetest.Run(t, forgetest.Host{Client: f, Repository: f.Repository, Reviewer: "rita", Approver: "rita",
		Branch: func(t *testing.T, name string) string {
			return f.Push(t, name, map[string]string{name + ".md": "new\n"})
		},
		Merge:    func(t *testing.T, n int64) { f.Merge(t, n) },
		Check:    func(t *testing.T, commit, name, state string) { f.Check(t, commit, name, state) },
		Approve:  func(_ *testing.T, n int64) { f.Change(n, func(p *gitops.Pull) { p.Approved = []string{"rita"} }) },
		Comment:  func(t *testing.T, n int64, body string) { f.Comment(t, n, body) },
		Comments: func(t *testing.T, n int64) []string { return f.Comments(t, n) },
	})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.OpenPull(ended, f.Repository, gitops.NewPull{}); err == nil {
		t.Error("a pull request is opened for nobody")
	}
}
