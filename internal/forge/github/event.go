package github

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strings"

	gh "github.com/google/go-github/v89/github"

	"github.com/fairlead-dev/fairlead/internal/forge"
)

// Event reads a webhook of GitHub's whose signature, X-Hub-Signature-256,
// holds. The hook may send JSON or a form. Pushes and pull requests are told
// in full; what is not known to be of use is of kind other.
func (c *Client) Event(r *http.Request) (forge.Event, error) {
	body, err := c.webhook.Body(r)
	if err != nil {
		return forge.Event{}, err
	}
	signature, ok := strings.CutPrefix(r.Header.Get(gh.SHA256SignatureHeader), "sha256=")
	if !ok {
		signature = ""
	}
	if err := c.webhook.VerifyHMAC(body, signature); err != nil {
		return forge.Event{}, err
	}
	payload, err := payloadOf(r.Header.Get("Content-Type"), body)
	if err != nil {
		return forge.Event{}, forge.Malformed(err)
	}
	e, err := parseEvent(r.Header.Get(gh.EventTypeHeader), payload)
	if err != nil {
		return forge.Event{}, forge.Malformed(err)
	}
	e.Delivery = gh.DeliveryID(r)
	e.Replay = c.webhook.Replayed(e.Delivery, body)
	if e.Kind == forge.KindRepository {
		c.Relist()
	}
	return e.Located(c.at.web), nil
}

func payloadOf(contentType string, body []byte) ([]byte, error) {
	kind, _, err := mime.ParseMediaType(contentType)
	switch {
	case err != nil:
		return nil, err
	case kind == "application/json":
		return body, nil
	case kind == "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(body))
		return []byte(form.Get("payload")), err
	default:
		return nil, errors.New("the content type is neither JSON nor a form")
	}
}

// parseEvent reads the payload of a named event.
func parseEvent(name string, payload []byte) (forge.Event, error) {
	switch name {
	case "push":
		return parsePush(payload)
	case "pull_request":
		var in gh.PullRequestEvent
		err := json.Unmarshal(payload, &in)
		e := forge.Event{Kind: forge.KindPullRequest, Number: int64(in.GetNumber()), Ref: branch(in.GetPullRequest().GetHead().GetRef()), After: in.GetPullRequest().GetHead().GetSHA()}
		return of(e, in.GetRepo(), err)
	case "repository", "public":
		var in gh.RepositoryEvent
		err := json.Unmarshal(payload, &in)
		return of(forge.Event{Kind: forge.KindRepository, Deleted: in.GetAction() == "deleted"}, in.GetRepo(), err)
	case "ping":
		var in gh.PingEvent
		err := json.Unmarshal(payload, &in)
		return of(forge.Event{Kind: forge.KindPing}, in.GetRepo(), err)
	case "":
		return forge.Event{}, errors.New("the header that names the event is missing")
	default: // of these nothing is needed but that they are JSON
		var in struct {
			Repo *gh.Repository `json:"repository"`
		}
		if !json.Valid(payload) {
			return forge.Event{}, errors.New("not valid JSON")
		}
		_ = json.Unmarshal(payload, &in) // an event of another shape concerns no repository
		return of(forge.Event{Kind: forge.KindOther}, in.Repo, nil)
	}
}

func parsePush(payload []byte) (forge.Event, error) {
	var in gh.PushEvent
	if err := json.Unmarshal(payload, &in); err != nil {
		return forge.Event{}, err
	}
	if in.GetRef() == "" || in.GetRepo().GetFullName() == "" {
		return forge.Event{}, errors.New("the push names no ref or no repository")
	}
	return forge.Event{Kind: forge.KindPush, Repository: in.GetRepo().GetFullName(),
		CloneURLs: forge.PlainURLs(in.GetRepo().GetCloneURL(), in.GetRepo().GetSSHURL(), in.GetRepo().GetHTMLURL()),
		Ref:       in.GetRef(), Before: forge.CommitOrNone(in.GetBefore()), After: forge.CommitOrNone(in.GetAfter()), Deleted: in.GetDeleted()}, nil
}

// of completes an event with its repository.
func of(e forge.Event, r *gh.Repository, err error) (forge.Event, error) {
	if err != nil {
		return forge.Event{}, err
	}
	e.Repository = r.GetFullName()
	e.CloneURLs = forge.PlainURLs(r.GetCloneURL(), r.GetSSHURL(), r.GetHTMLURL())
	return e, nil
}

func branch(name string) string {
	if name == "" {
		return ""
	}
	return "refs/heads/" + name
}
