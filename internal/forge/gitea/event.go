package gitea

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/forge"
)

// payload is what Fairlead reads of Gitea's events.
type payload struct {
	Action      string `json:"action"`
	Ref         string `json:"ref"`
	RefType     string `json:"ref_type"`
	Before      string `json:"before"`
	After       string `json:"after"`
	PullRequest *struct {
		Number int64 `json:"number"`
		Head   *struct {
			Ref string `json:"ref"`
			SHA string `json:"sha"`
		} `json:"head"`
	} `json:"pull_request"`
	Repository *struct {
		FullName string `json:"full_name"`
		HTMLURL  string `json:"html_url"`
		CloneURL string `json:"clone_url"`
		SSHURL   string `json:"ssh_url"`
	} `json:"repository"`
}

// Event reads a webhook of Gitea's or Forgejo's, sent as JSON, whose
// signature, X-Gitea-Signature, holds. Pushes and pull requests are told in
// full; what is not known to be of use is of kind other.
func (c *Client) Event(r *http.Request) (forge.Event, error) {
	body, err := c.webhook.Body(r)
	if err != nil {
		return forge.Event{}, err
	}
	header := func(name string) string {
		return cmp.Or(r.Header.Get("X-Gitea-"+name), r.Header.Get("X-Forgejo-"+name))
	}
	if err := c.webhook.VerifyHMAC(body, header("Signature")); err != nil {
		return forge.Event{}, err
	}
	e, err := parseEvent(header("Event"), body)
	if err != nil {
		return forge.Event{}, forge.Malformed(err)
	}
	e.Delivery = header("Delivery")
	e.Replay = c.webhook.Replayed(e.Delivery, body)
	return e.Located(c.wire.Base), nil
}

func parseEvent(name string, body []byte) (forge.Event, error) {
	var in payload
	err := json.Unmarshal(body, &in)
	e := forge.Event{Kind: forge.KindOther}
	if in.Repository != nil {
		e.Repository = in.Repository.FullName
		e.CloneURLs = forge.PlainURLs(in.Repository.CloneURL, in.Repository.SSHURL, in.Repository.HTMLURL)
	}
	switch name {
	case "":
		return forge.Event{}, errors.New("the header that names the event is missing")
	case "push":
		e.Kind, e.Ref, e.Before, e.After = forge.KindPush, in.Ref, forge.CommitOrNone(in.Before), forge.CommitOrNone(in.After)
		e.Deleted = e.After == ""
	case "delete": // a branch or tag; that one was made is told by a push, too
		e.Kind, e.Ref, e.Deleted = forge.KindPush, fullRef(in.RefType, in.Ref), true
	case "pull_request", "pull_request_sync":
		e.Kind = forge.KindPullRequest
		if in.PullRequest != nil && in.PullRequest.Head != nil {
			e.Number, e.Ref, e.After = in.PullRequest.Number, fullRef("branch", in.PullRequest.Head.Ref), in.PullRequest.Head.SHA
		}
	case "repository":
		e.Kind, e.Deleted = forge.KindRepository, in.Action == "deleted"
	default:
		if !json.Valid(body) {
			return forge.Event{}, errors.New("not valid JSON")
		}
		return e, nil // an event of another shape is none of ours
	}
	if err == nil && e.Kind == forge.KindPush && (e.Ref == "" || e.Repository == "") {
		err = errors.New("the push names no ref or no repository")
	}
	if err != nil {
		return forge.Event{}, err
	}
	return e, nil
}

func fullRef(kind, name string) string {
	switch {
	case name == "" || strings.HasPrefix(name, "refs/"):
		return name
	case kind == "tag":
		return "refs/tags/" + name
	default:
		return "refs/heads/" + name
	}
}
