package gitlab

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	gl "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/fairlead-dev/fairlead/internal/forge"
)

// signedFor is how far the time of a signed webhook may be from this
// machine's.
const signedFor = 5 * time.Minute

// Event reads a webhook of GitLab's, of a project, a group or the whole
// system. Where it is signed (webhook-signature) the signature must hold; else
// the secret token (X-Gitlab-Token) must be one that is known. Pushes and merge
// requests are told in full; what is not known to be of use is of kind other.
func (c *Client) Event(r *http.Request) (forge.Event, error) {
	body, err := c.webhook.Body(r)
	if err != nil {
		return forge.Event{}, err
	}
	if r.Header.Get("Webhook-Signature") != "" {
		err = c.verifySignature(r.Header, body)
	} else {
		err = c.webhook.VerifyToken(r.Header.Get("X-Gitlab-Token"))
	}
	if err != nil {
		return forge.Event{}, err
	}
	e, err := parseEvent(body)
	if err != nil {
		return forge.Event{}, forge.Malformed(err)
	}
	e.Delivery = cmp.Or(r.Header.Get("Webhook-Id"), r.Header.Get("Idempotency-Key"))
	e.Replay = c.webhook.Replayed(e.Delivery, body)
	return e.Located(c.wire.Base), nil
}

// verifySignature checks a signature as Standard Webhooks has it: that of id,
// time and body.
func (c *Client) verifySignature(h http.Header, body []byte) error {
	id, at := h.Get("Webhook-Id"), h.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > signedFor {
		return forge.Forbidden(errors.New("the signature's time is missing or too far from now"))
	}
	var given [][]byte
	for one := range strings.FieldsSeq(h.Get("Webhook-Signature")) {
		if text, ok := strings.CutPrefix(one, "v1,"); ok {
			if sum, err := base64.StdEncoding.DecodeString(text); err == nil {
				given = append(given, sum)
			}
		}
	}
	signed := append([]byte(id+"."+at+"."), body...)
	return c.webhook.Verify(func(secret string) bool {
		ok := false
		for _, key := range keys(secret) {
			mac := hmac.New(sha256.New, key)
			mac.Write(signed)
			sum := mac.Sum(nil)
			for _, one := range given {
				ok = hmac.Equal(sum, one) || ok
			}
		}
		return ok
	})
}

// keys are what a signing token may stand for: itself or, behind whsec_, what
// it encodes.
func keys(secret string) [][]byte {
	out := [][]byte{[]byte(secret)}
	if text, ok := strings.CutPrefix(secret, "whsec_"); ok {
		if key, err := base64.StdEncoding.DecodeString(text); err == nil && len(key) > 0 {
			out = append(out, key)
		}
	}
	return out
}

// payload is what Fairlead reads of GitLab's events.
type payload struct {
	Kind    string              `json:"object_kind"`
	Name    string              `json:"event_name"`
	Ref     string              `json:"ref"`
	Before  string              `json:"before"`
	After   string              `json:"after"`
	Project gl.PushEventProject `json:"project"`
	Path    string              `json:"path_with_namespace"`
	Merge   struct {
		IID          int64  `json:"iid"`
		SourceBranch string `json:"source_branch"`
		LastCommit   struct {
			ID string `json:"id"`
		} `json:"last_commit"`
	} `json:"object_attributes"`
}

func parseEvent(body []byte) (forge.Event, error) {
	var in payload
	err := json.Unmarshal(body, &in)
	e := forge.Event{Kind: forge.KindOther, Repository: cmp.Or(in.Project.PathWithNamespace, in.Path),
		CloneURLs: forge.PlainURLs(in.Project.GitHTTPURL, in.Project.GitSSHURL, in.Project.WebURL)}
	switch name := cmp.Or(in.Kind, in.Name); name {
	case "push", "tag_push":
		e.Kind, e.Ref, e.Before, e.After = forge.KindPush, in.Ref, forge.CommitOrNone(in.Before), forge.CommitOrNone(in.After)
		e.Deleted = e.After == ""
		if err == nil && (e.Ref == "" || e.Repository == "") {
			err = errors.New("the push names no ref or no project")
		}
	case "merge_request":
		e.Kind, e.Number, e.After = forge.KindPullRequest, in.Merge.IID, in.Merge.LastCommit.ID
		if in.Merge.SourceBranch != "" {
			e.Ref = "refs/heads/" + in.Merge.SourceBranch
		}
	case "project_create", "project_destroy", "project_rename", "project_transfer", "project_update", "project":
		e.Kind, e.Deleted = forge.KindRepository, name == "project_destroy"
	default:
		if !json.Valid(body) {
			return forge.Event{}, errors.New("not valid JSON")
		}
		return e, nil // an event of another shape is none of ours
	}
	if err != nil {
		return forge.Event{}, err
	}
	return e, nil
}
