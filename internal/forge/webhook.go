package forge

import (
	"container/list"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// MaxWebhook is the size in bytes of the largest body of a webhook that is
// read. GitHub sends up to 25 MB; pushes that Fairlead can use are far smaller.
const MaxWebhook = 4 << 20

// The bounds of what is remembered of deliveries.
const (
	replayFor  = 24 * time.Hour
	maxReplays = 20_000
)

// Webhook checks that requests come from the forge. It is safe for concurrent
// use.
type Webhook struct {
	file string

	mu    sync.Mutex
	by    map[string]*list.Element
	order *list.List // of delivery, latest first
}

type delivery struct {
	key  string
	seen time.Time
}

// NewWebhook makes one whose secrets are in a file, one a line, so that the
// forge and Fairlead need not change them in the same moment. A relative file
// is one of dir.
func NewWebhook(file, dir string) *Webhook {
	return &Webhook{file: in(dir, file), by: map[string]*list.Element{}, order: list.New()}
}

// Forbidden is the error of every request that is not from the forge. Which
// check failed is for logs alone.
func Forbidden(cause error) error {
	return fault.New(fault.Forbidden, "the webhook is not signed by a secret that is known here").
		WithFix("Write the same secret at the forge and into the file that webhookSecretFile names.").Because(cause)
}

// The causes of a Forbidden.
var (
	errNoSecret    = errors.New("no secret is configured by webhookSecretFile")
	errSecretFile  = errors.New("the file that webhookSecretFile names cannot be read, or is empty")
	errNoSignature = errors.New("the signature is missing or is none")
	errSignature   = errors.New("the signature is that of another secret or body")
)

// secrets reads the secrets anew.
func (w *Webhook) secrets() ([]string, error) {
	if w.file == "" {
		return nil, errNoSecret
	}
	text, err := readSecret(w.file)
	if err != nil {
		return nil, errSecretFile
	}
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	if len(out) == 0 {
		return nil, errSecretFile
	}
	return out, nil
}

// Body reads the body of a request within the bound.
func (w *Webhook) Body(r *http.Request) ([]byte, error) {
	if r.Method != http.MethodPost {
		return nil, fault.New(fault.Invalid, "a webhook is sent by POST").WithFix("Let the forge send it by POST, as forges do.")
	}
	if r.ContentLength > MaxWebhook {
		return nil, tooLarge()
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxWebhook+1))
	if err != nil {
		return nil, fault.New(fault.Invalid, "the webhook's body broke off").WithFix("Send it again.").Because(err)
	}
	if len(body) > MaxWebhook {
		return nil, tooLarge()
	}
	return body, nil
}

// tooLarge carries the HTTP status that says it best.
func tooLarge() error {
	return fault.New(fault.Invalid, "the webhook's body exceeds %d bytes", MaxWebhook).
		WithFix("Nothing is lost: what changed is found when the source is next looked at.").
		WithDetail("status", http.StatusRequestEntityTooLarge)
}

// VerifyHMAC checks the SHA-256 HMAC of a body, in hexadecimal, in constant
// time.
func (w *Webhook) VerifyHMAC(body []byte, signature string) error {
	given, err := hex.DecodeString(signature)
	if err != nil || len(given) != sha256.Size {
		return Forbidden(errNoSignature)
	}
	return w.verify(func(secret string) bool {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(body)
		return hmac.Equal(mac.Sum(nil), given)
	})
}

// VerifyToken checks a secret that is sent as it is, in constant time.
func (w *Webhook) VerifyToken(token string) error {
	if token == "" {
		return Forbidden(errNoSignature)
	}
	given := sha256.Sum256([]byte(token))
	return w.verify(func(secret string) bool {
		known := sha256.Sum256([]byte(secret))
		return subtle.ConstantTimeCompare(known[:], given[:]) == 1
	})
}

// Verify checks a request against each of the secrets, in a way of the forge's
// own.
func (w *Webhook) Verify(holds func(secret string) bool) error { return w.verify(holds) }

// verify tries every secret, whichever holds.
func (w *Webhook) verify(holds func(secret string) bool) error {
	secrets, err := w.secrets()
	if err != nil {
		return Forbidden(err)
	}
	ok := false
	for _, secret := range secrets {
		ok = holds(secret) || ok
	}
	if !ok {
		return Forbidden(errSignature)
	}
	return nil
}

// Replayed remembers a verified delivery, and tells whether it was there
// before: by its id or, since ids are not signed, by its body.
func (w *Webhook) Replayed(id string, body []byte) bool {
	sum := sha256.Sum256(body)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forget(time.Now().Add(-replayFor))
	seen := w.remember("body:" + string(sum[:]))
	if id != "" && len(id) <= 200 {
		seen = w.remember("id:"+id) || seen
	}
	return seen
}

func (w *Webhook) remember(key string) bool {
	if _, ok := w.by[key]; ok {
		return true
	}
	w.by[key] = w.order.PushFront(delivery{key, time.Now()})
	return false
}

// forget drops what is older, and the oldest above the bound.
func (w *Webhook) forget(before time.Time) {
	for at := w.order.Back(); at != nil; at = w.order.Back() {
		d := at.Value.(delivery)
		if w.order.Len() < maxReplays && d.seen.After(before) {
			return
		}
		w.order.Remove(at)
		delete(w.by, d.key)
	}
}

// Malformed is the error of a webhook that is signed and yet cannot be read.
func Malformed(cause error) error {
	return fault.New(fault.Invalid, "the webhook's body is not what the forge sends for this event").
		WithFix("Let the forge send JSON (content type application/json).").Because(cause)
}

// CommitOrNone is a commit id of an event; "" for the zeros by which forges
// tell that there is none.
func CommitOrNone(id string) string {
	if strings.Trim(id, "0") == "" {
		return ""
	}
	return id
}

// PlainURLs are those of the addresses that are some, without credentials.
func PlainURLs(urls ...string) []string {
	var out []string
	for _, text := range urls {
		if u, err := url.Parse(text); err == nil && u.Scheme != "" && u.User != nil {
			if u.Scheme == "http" || u.Scheme == "https" {
				u.User = nil
			} else {
				u.User = url.User(u.User.Username())
			}
			text = u.String()
		}
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}
