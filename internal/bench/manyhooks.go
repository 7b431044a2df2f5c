package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// hookSecret signs the webhooks of a forge that lives for minutes.
const hookSecret = "bench-0123456789abcdef0123456789abcdef"

// hooked measures the real server over the repositories that a forge lists,
// and how soon it shows what a webhook tells of.
func (s settings) hooked(ctx context.Context, r report, dir, forgeURL string, f *fleet) error {
	source := fmt.Sprintf("{name: forge, gitea: {url: %q, org: %s, webhookSecretFile: secret}}", forgeURL, owner)
	config, err := configureSource(dir, source)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte(hookSecret), 0o600); err != nil {
		return err
	}
	srv, err := startServer(ctx, s.server, config)
	if err != nil {
		return err
	}
	return errors.Join(s.hooks(ctx, r, srv, forgeURL, f), srv.stop())
}

func (s settings) hooks(ctx context.Context, r report, srv *server, forgeURL string, f *fleet) error {
	wall, cpu, err := srv.queryable(ctx, f.entities)
	if err != nil {
		return err
	}
	r.line("the server finds and reads them at a forge, wall / CPU", seconds(wall)+" / "+seconds(cpu), "30 s")
	now, _, err := settled(ctx, srv.cmd.Process.Pid)
	if err != nil {
		return err
	}
	r.line("resident then, with the doors", megabytes(now), "")
	var times []time.Duration
	for i := range s.edits {
		took, err := srv.hook(ctx, forgeURL, f, i)
		if err != nil {
			return err
		}
		times = append(times, took)
	}
	r.line("a webhook's change is seen after, min / median / max", spread(times), "1 s")
	return nil
}

// hook changes one repository, tells the server, and waits until that is seen.
func (s *server) hook(ctx context.Context, forgeURL string, f *fleet, turn int) (time.Duration, error) {
	i := turn * 7919 % len(f.bares)
	description := fmt.Sprintf("Change %d that a webhook told of.", turn)
	before := f.bares[i].head
	if err := f.change(i, description); err != nil {
		return 0, err
	}
	name := f.names[i]
	body := fmt.Sprintf(`{"ref":"refs/heads/main","before":%q,"after":%q,"repository":{"full_name":%q,"html_url":%q,"clone_url":%q}}`,
		before, f.bares[i].head, owner+"/"+name, forgeURL+"/"+owner+"/"+name, forgeURL+"/"+owner+"/"+name+".git")
	seen := request{method: http.MethodGet, path: "/api/v1/entities/" + url.PathEscape(f.components[i].ref()), holds: description}
	start := time.Now()
	if err := s.tell(ctx, body, fmt.Sprint("turn-", turn)); err != nil {
		return 0, err
	}
	for {
		_, err := s.ask(ctx, seen)
		took := time.Since(start)
		if err == nil || took > 30*time.Second || ctx.Err() != nil {
			return took, err
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// tell sends a signed webhook.
func (s *server) tell(ctx context.Context, body, delivery string) error {
	mac := hmac.New(sha256.New, []byte(hookSecret))
	_, _ = io.WriteString(mac, body) // a hash never fails
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/webhooks/gitea", strings.NewReader(body))
	if err != nil {
		return err
	}
	for k, v := range map[string]string{"Content-Type": "application/json", "X-Gitea-Event": "push", "X-Gitea-Delivery": delivery,
		"X-Gitea-Signature": hex.EncodeToString(mac.Sum(nil))} {
		req.Header.Set(k, v)
	}
	res, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		return fmt.Errorf("the webhook got %s", res.Status)
	}
	return nil
}
