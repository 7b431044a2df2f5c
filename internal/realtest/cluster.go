package realtest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Cluster is a real API server of Kubernetes with etcd and controllers, and no
// nodes: what the stack of ArgoCD has without Argo CD.
type Cluster struct {
	// Server is the way to the API server, over TLS with a certificate of the
	// authority in CAFile.
	Server *Link
	CAFile string
	// Token is an administrator's.
	Token string

	kube *kubernetes
}

// cluster is the one of this process, started by the first test that needs it.
var cluster = sync.OnceValues(func() (*Cluster, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	return startCluster(ctx)
})

// Kubernetes gives a cluster, which the tests of a process share: let each have
// namespaces of its own. It takes some five seconds and half a gigabyte.
func Kubernetes(t testing.TB) *Cluster {
	t.Helper()
	_, err := findArgoPrograms()
	need(t, "Kubernetes", err)
	c, err := cluster()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func startCluster(ctx context.Context) (*Cluster, error) {
	programs, err := findArgoPrograms()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "fairlead-kubernetes-")
	if err != nil {
		return nil, err
	}
	if _, err := sweep(dir); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	cert, err := newCertificates(dir)
	if err != nil {
		return nil, err
	}
	at := newPlace()
	kube, err := newKubernetes(at, dir, programs.kube, programs.etcd, cert)
	if err != nil {
		return nil, err
	}
	if err := kube.start(ctx); err != nil {
		return nil, errors.Join(err, os.WriteFile(filepath.Join(dir, keepLogs), nil, 0o600)) // nobody is left to tell it
	}
	l, err := net.Listen("tcp", loopback(0)) //nolint:noctx // numeric: nothing to wait for
	if err != nil {
		return nil, err
	}
	server := newLink(l, func(ctx context.Context) (net.Conn, error) { return at.dial(ctx, "tcp", loopback(kube.port)) })
	return &Cluster{Server: server, CAFile: cert.authorityFile, Token: kube.token, kube: kube}, nil
}

// API calls the API server as an administrator with a JSON body, nil for none,
// and gives the status; the answer of a success is read into out, if that is not
// nil. A PATCH is a merge patch. No answer ends the test.
func (c *Cluster) API(t testing.TB, method, path string, in, out any) (status int) {
	t.Helper()
	mediaType := jsonType
	if method == http.MethodPatch {
		mediaType = mergeType
	}
	return c.kube.api.must(t, method, path, mediaType, in, out)
}

// As gives the status that the API server answers somebody else's token with.
func (c *Cluster) As(t testing.TB, token, path string) (status int) {
	t.Helper()
	other := *c.kube.api
	other.token = token
	return other.must(t, http.MethodGet, path, jsonType, nil, nil)
}
