package realtest_test

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

func TestGiteaTakesOrganizationsAndTokens(t *testing.T) {
	f := realtest.Gitea(t)
	org := "realtest-" + strings.ToLower(rand.Text())
	f.API(t, http.MethodPost, "/orgs", map[string]string{"username": org}, nil)
	f.API(t, http.MethodPost, "/orgs/"+org+"/repos", map[string]any{"name": "svc", "auto_init": true}, nil)
	var repo struct{ Empty bool }
	f.API(t, http.MethodGet, "/repos/"+org+"/svc", nil, &repo)
	if repo.Empty {
		t.Error("the repository is empty")
	}
	token, revoke := f.NewToken(t, "read:organization")
	ask := func() int {
		req, err := http.NewRequest(http.MethodGet, f.URL+"/api/v1/orgs/"+org, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "token "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if got := ask(); got != http.StatusOK {
		t.Errorf("with the token: %d", got)
	}
	revoke()
	if got := ask(); got != http.StatusUnauthorized {
		t.Errorf("with the revoked token: %d", got)
	}
}
