package git

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

// explain turns what went wrong with a server into words that name the step
// and the repository, and say what to do. The cause is for logs alone: it may
// hold what the server says.
func (r *remote) explain(step string, err error) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	for _, explain := range []func(string, error) *fault.Error{r.explainStatus, r.explainLimit, r.explainSSH, r.explainNetwork} {
		if f := explain(step, err); f != nil {
			return f.Because(err)
		}
	}
	if strings.Contains(err.Error(), "not our ref") {
		return fault.New(fault.NotFound, "%s %s: the server has no such commit, or does not serve it", step, r.name()).
			WithFix("Correct ref; name a branch or a tag if the server serves no commits by id.").Because(err)
	}
	var line *pktline.ErrorLine
	if errors.As(err, &line) {
		return fault.New(fault.Unavailable, "%s %s: the server says %.200q", step, r.name(), line.Text).
			WithFix("Put right what the server says.").Because(err)
	}
	return fault.New(fault.Unavailable, "%s %s: the server does not answer as a Git server does", step, r.name()).
		WithFix("Check that the URL is that of a repository, and that nothing between here and the server changes its answers.").Because(err)
}

func (r *remote) explainStatus(step string, err error) *fault.Error {
	var redirect *redirectError
	if errors.As(err, &redirect) && !redirect.alien {
		return fault.New(fault.FailedPrecondition, "%s %s: the server redirects to %s, which is no repository", step, r.name(), redirect.to).
			WithFix("Correct the URL, or configure credentials if the server asks to sign in there.")
	}
	if redirect != nil {
		return fault.New(fault.FailedPrecondition, "%s %s: the server redirects to %s, which is not followed because it is another host", step, r.name(), redirect.to).
			WithFix("If that is where the repository is now, write that URL in the source's configuration.")
	}
	var status *statusError
	if !errors.As(err, &status) {
		return nil
	}
	credentials := r.cfg.Credentials.TokenFile != "" || r.cfg.Credentials.TokenEnv != ""
	switch {
	case status.status == http.StatusUnauthorized && !credentials:
		return fault.New(fault.FailedPrecondition, "%s %s: the server asks for credentials, and none are configured", step, r.name()).
			WithFix("Name a token by credentials.tokenFile or credentials.tokenEnv of the source. Some forges ask for credentials where a repository does not exist: check the URL, too.")
	case status.status == http.StatusUnauthorized, status.status == http.StatusForbidden && credentials:
		return fault.New(fault.FailedPrecondition, "%s %s: the server refuses the credentials (HTTP %d)", step, r.name(), status.status).
			WithFix("Check that the token is valid and may read the repository; put a new one in its place if not.")
	case status.status == http.StatusForbidden:
		return fault.New(fault.FailedPrecondition, "%s %s: the server refuses access (HTTP 403)", step, r.name()).WithFix("Configure credentials that may read the repository.")
	case status.status == http.StatusNotFound:
		return fault.New(fault.NotFound, "%s %s: there is no such repository (HTTP 404)", step, r.name()).
			WithFix("Correct the URL. Some forges hide repositories that the token may not read.")
	}
	f := fault.New(fault.Unavailable, "%s %s: the server answers with HTTP %d", step, r.name(), status.status).WithFix("Trying again may help; look at the server if it does not.")
	if status.retryAfter > 0 {
		f = f.After(status.retryAfter)
	}
	return f
}

func (r *remote) explainLimit(step string, err error) *fault.Error {
	var many *objects.TooManyError
	switch {
	case errors.Is(err, errManyRefs):
		return fault.New(fault.FailedPrecondition, "%s %s: the list of refs exceeds the limit of %d bytes", step, r.name(), maxAdvert).
			WithFix("Use a repository with fewer branches and tags.")
	case errors.Is(err, errTooMuch):
		return fault.New(fault.FailedPrecondition, "%s %s: it exceeds the limit of %d bytes on disk", step, r.name(), r.cfg.Limits.DiskBytes).
			WithFix("Raise limits.diskBytes of the source, or use a smaller repository.")
	case errors.As(err, &many):
		return fault.New(fault.FailedPrecondition, "%s %s: it holds more than %d files and folders, the limit", step, r.name(), r.cfg.Limits.Files).
			WithFix("Raise limits.files of the source, or use a smaller repository.")
	case errors.Is(err, errNoShallow):
		return fault.New(fault.FailedPrecondition, "%s %s: the server can only send the whole history, which is not asked for", step, r.name()).
			WithFix("Use a server that speaks smart HTTP with shallow fetches.")
	case errors.Is(err, objects.ErrCorrupt), errors.Is(err, errOtherObjects):
		return fault.New(fault.Unavailable, "%s %s: what the server sent is damaged", step, r.name()).
			WithFix("Trying again may help; check the repository with `git fsck` if it does not.")
	}
	return nil
}

func (r *remote) explainSSH(step string, err error) *fault.Error {
	for known, fix := range map[error]string{
		errKeyFile:    "Name a private key without a passphrase by credentials.sshKeyFile of the source.",
		errKnownHosts: "Name a file of known hosts by credentials.knownHostsFile of the source; `ssh-keyscan HOST` writes one.",
		errHostKey:    "Add the host's key to the known hosts, after checking that it is the right one.",
		errRefusedKey: "Give the key read access to the repository.",
	} {
		if errors.Is(err, known) {
			return fault.New(fault.FailedPrecondition, "%s %s: %v", step, r.name(), known).WithFix("%s", fix)
		}
	}
	var line *pktline.ErrorLine
	if r.at.kind == overSSH && (errors.Is(err, packp.ErrEmptyInput) || errors.As(err, &line) || errors.Is(err, io.EOF)) {
		return fault.New(fault.NotFound, "%s %s: there is no such repository, or the key may not read it", step, r.name()).
			WithFix("Correct the URL, or give the key read access to the repository.")
	}
	return nil
}

func (r *remote) explainNetwork(step string, err error) *fault.Error {
	var unknownHost *net.DNSError
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var op *net.OpError
	switch {
	case errors.As(err, &unknownHost):
		return fault.New(fault.Unavailable, "%s %s: the host's address cannot be found", step, r.name()).WithFix("Correct the URL, or check the name service.")
	case errors.As(err, &certificate), errors.As(err, &authority):
		return fault.New(fault.FailedPrecondition, "%s %s: the server's certificate is not trusted", step, r.name()).
			WithFix("Add its authority to the system's certificates, or name a bundle by the environment variable SSL_CERT_FILE.")
	case errors.As(err, &op), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, context.DeadlineExceeded), isReset(err):
		return fault.New(fault.Unavailable, "%s %s: the server cannot be reached, or the connection broke", step, r.name()).WithFix("Check that the server is up and can be reached from here; it is tried again.")
	}
	return nil
}

// isReset tells of connections that the other side ends, for which net/http
// has no errors of their own.
func isReset(err error) bool {
	return strings.Contains(err.Error(), "server closed idle connection") || strings.Contains(err.Error(), "stream error")
}

// diskError reports that the server's own disk cannot be written.
func diskError(path string, err error) error {
	return fault.New(fault.Unavailable, "fetched objects cannot be written below %s", path).WithFix("Free space on the disk, and let the user that Fairlead runs as write there.").Because(err)
}
