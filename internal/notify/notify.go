// Package notify sends news to webhooks: JSON by POST, signed by a secret that
// the receiver shares.
package notify

import (
	"bytes"
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

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// The headers of what is sent.
const (
	// SignatureHeader is "sha256=" and the HMAC-SHA256 of the body in hex.
	SignatureHeader = "X-Fairlead-Signature-256"
	// DeliveryHeader is the same for the same news, however often it is sent.
	DeliveryHeader = "X-Fairlead-Delivery"
	// EventHeader names what the news is about.
	EventHeader = "X-Fairlead-Event"
)

// Config is one webhook.
type Config struct {
	// URL is where news are posted to.
	URL string `yaml:"url"`
	// SecretFile holds the secret that they are signed with. It is read anew
	// each time.
	SecretFile string `yaml:"secretFile"`
}

// Problem is one thing wrong with a Config.
type Problem struct {
	// Field is the key, Message what is wrong and what to write.
	Field, Message string
}

// Validate tells everything that is wrong with it. It looks at no file.
func (c *Config) Validate() []Problem {
	var ps []Problem
	u, err := url.Parse(c.URL)
	switch {
	case c.URL == "":
		ps = append(ps, Problem{"url", "the URL is missing; write for example https://hooks.example.com/fairlead"})
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Fragment != "":
		ps = append(ps, Problem{"url", "it is no http or https URL"})
	case u.User != nil:
		ps = append(ps, Problem{"url", "a password does not belong in the URL; what is sent is signed by the secret in secretFile"})
	}
	if c.SecretFile == "" {
		ps = append(ps, Problem{"secretFile", "the file with the secret is missing, by which receivers know who sends"})
	}
	return ps
}

// In resolves the file against the configuration's folder.
func (c *Config) In(dir string) {
	if c.SecretFile != "" && !filepath.IsAbs(c.SecretFile) {
		c.SecretFile = filepath.Join(dir, c.SecretFile)
	}
}

const (
	// maxSecret and minSecret bound a secret in bytes, maxAnswer what is read of
	// an answer.
	minSecret, maxSecret = 16, 4 << 10
	maxAnswer            = 64 << 10
	// longest is how long a receiver may take.
	longest = 10 * time.Second
)

// Hook sends to one webhook. It is safe for concurrent use.
type Hook struct {
	cfg    Config
	name   string
	client *http.Client
}

// New makes a Hook; nothing is sent.
func New(cfg Config) *Hook {
	sum := sha256.Sum256([]byte(cfg.URL))
	return &Hook{cfg: cfg, name: hex.EncodeToString(sum[:8]), client: &http.Client{Timeout: longest,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// Name tells hooks apart by their URLs, without telling these.
func (h *Hook) Name() string { return h.name }

// Host is where it sends to, without what in a URL may be secret.
func (h *Hook) Host() string {
	u, err := url.Parse(h.cfg.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

// Send posts news. It has arrived where the answer is 2xx; anything else is a
// fault, as is a secret that cannot be read: then nothing is sent.
func (h *Hook) Send(ctx context.Context, event, id string, text []byte) error {
	signature, err := h.sign(text)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.cfg.URL, bytes.NewReader(text))
	if err != nil {
		return h.down(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "fairlead")
	r.Header.Set(SignatureHeader, signature)
	r.Header.Set(DeliveryHeader, id)
	r.Header.Set(EventHeader, event)
	answer, err := h.client.Do(r)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) { // its text has the URL
			err = u.Err
		}
		return h.down(err)
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer) // so that the connection serves again
	if answer.StatusCode/100 != 2 {
		return h.down(fmt.Errorf("it answered %s", answer.Status))
	}
	return nil
}

func (h *Hook) down(err error) error {
	return fault.New(fault.Unavailable, "the webhook at %s did not take what it was sent", h.Host()).WithFix("It is tried again; check that the receiver is well.").Because(err)
}

// sign makes the signature of a text.
func (h *Hook) sign(text []byte) (string, error) {
	f, err := os.Open(h.cfg.SecretFile)
	if err != nil {
		return "", h.unsigned(err)
	}
	defer f.Close()
	secret, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	secret = bytes.TrimRight(secret, "\r\n")
	if err == nil && (len(secret) < minSecret || len(secret) > maxSecret) {
		err = fmt.Errorf("it has %d bytes, not %d to %d", len(secret), minSecret, maxSecret)
	}
	if err != nil {
		return "", h.unsigned(err)
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(text)
	return "sha256=" + strings.ToLower(hex.EncodeToString(mac.Sum(nil))), nil
}

func (h *Hook) unsigned(err error) error {
	return fault.New(fault.FailedPrecondition, "the secret for the webhook at %s cannot be read", h.Host()).WithFix("Write at least %d bytes into the file that secretFile names.", minSecret).Because(err)
}
