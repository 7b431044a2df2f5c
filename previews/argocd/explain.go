package argocd

import (
	"regexp"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// complaint is a kind of thing that Argo CD complains of.
type complaint struct {
	pattern *regexp.Regexp
	// what says what is wrong, and fix how it is put right.
	what, fix string
	// lasting complaints do not go away by themselves.
	lasting bool
}

// complaints are those that are known, the most telling first.
var complaints = []complaint{
	{regexp.MustCompile(`(?i)app path does not exist|no such file or directory.*(app|path)|does not contain.*(manifests|kustomization)`),
		"the folder of manifests is not in the repository at that revision", "Set spec.fairlead.preview.path to the folder that holds them.", true},
	{regexp.MustCompile(`(?i)unable to resolve '?[^ ]+'? to a commit|couldn't find remote ref|not our ref|unadvertised object|reference is not a tree|did not match any|invalid reference|unable to read tree|bad object|revision .* (not found|must be resolved)`),
		"the revision is not in the repository", "Push it, or name another revision.", true},
	{regexp.MustCompile(`(?i)repository not found|authentication required|authorization failed|could not read (Username|Password)|repository does not exist|does not appear to be a git repository|remote: not found|repository .* not found|permission denied \(publickey`),
		"Argo CD cannot read the repository", "Have Argo CD given access to the repository, or correct its URL (previews.deployers.argocd.rewrite, or spec.fairlead.preview.repository).", true},
	{regexp.MustCompile(`(?i)is not permitted in project|do not match any of the allowed destinations|not permitted to use|is not allowed in project|project .* (does not exist|not found)|referencing project .* which does not exist`),
		"the AppProject of previews does not allow it", "Have the AppProject allow the repository, the namespaces and the kinds; the guide on previews by Argo CD shows one that does.", true},
	{regexp.MustCompile(`(?i)kustomize build.* failed|helm template.* failed|failed to (unmarshal|parse)|error unmarshaling|error converting YAML|failed to execute (kustomize|helm)`),
		"no manifests can be made of the folder", "Try it at that commit by kustomize build or helm template, and correct it.", true},
	{regexp.MustCompile(`(?i)destination.*(not found|no clusters|unable to find)|cluster .* (not found|has not been configured)|there are no clusters`),
		"Argo CD does not know the cluster", "Correct previews.deployers.argocd.cluster, or have the cluster added to Argo CD.", true},
	{regexp.MustCompile(`(?i)is forbidden|cannot (create|patch|get|list) resource|exceeded quota`),
		"the cluster refuses it", "Have what is refused allowed, or leave it out of what is previewed.", false},
	{regexp.MustCompile(`(?i)could not find the requested resource|no matches for kind|CRD is not installed|not installed`),
		"the cluster does not know a kind", "Have its definition installed, or leave it out of what is previewed.", false},
	{regexp.MustCompile(`(?i)connection refused|no such host|i/o timeout|context deadline exceeded|failed to get cluster info|unable to connect|connection reset|EOF$`),
		"Argo CD does not reach the repository or the cluster", "Have an operator look at the connections of Argo CD.", false},
}

// explain puts what Argo CD complains of into words that say what to do.
func explain(text string) (what, fix string, lasting bool) {
	text = plain(text)
	for _, c := range complaints {
		if c.pattern.MatchString(text) {
			return c.what + " (" + text + ")", c.fix, c.lasting
		}
	}
	return "Argo CD says: " + text, "", false
}

// maxComplaint bounds what is told of a complaint, in bytes.
const maxComplaint = 320

var (
	noise   = regexp.MustCompile(`^(rpc error: code = \w+ desc = )+|\(retried \d+ times\)\.?`)
	secrets = regexp.MustCompile(`://[^/\s@]+@`)
)

// plain is a complaint without what only machines read, and without what
// stands before the host in URLs.
func plain(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	text = strings.ReplaceAll(text, "rpc error: code = Unknown desc = ", "")
	text = noise.ReplaceAllString(text, "")
	text = strings.TrimSpace(secrets.ReplaceAllString(text, "://"))
	if len(text) > maxComplaint {
		text = strings.ToValidUTF8(text[:maxComplaint/2], "") + " … " + strings.ToValidUTF8(text[len(text)-maxComplaint/2:], "")
	}
	return text
}

// explained is an error of Argo CD's as callers are told of it.
func explained(err error) error {
	if err == nil {
		return nil
	}
	f := fault.From(err)
	if f.Code != fault.FailedPrecondition && f.Code != fault.Unavailable {
		return err
	}
	what, fix, lasting := explain(f.Message)
	code := f.Code
	if lasting {
		code = fault.FailedPrecondition
	}
	if fix == "" {
		return err
	}
	return fault.New(code, "%s", what).WithFix("%s", fix).Because(err)
}
