package argo

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"os"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"github.com/fairlead-dev/fairlead/internal/argo/instance"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// maxMessage is the largest answer in bytes that is read: a resource tree of
// tens of thousands of nodes.
const maxMessage = 64 << 20

// Client talks to one Argo CD. It connects when it is first asked, and again
// whenever the connection is lost. It is safe for concurrent use.
type Client struct {
	cfg  instance.Config
	conn *grpc.ClientConn
	apps application.ApplicationServiceClient
}

// Dial makes a client; nothing is sent. Errors are those of the configuration.
// It stands on the generated client alone: what wraps that reads its
// environment and the user's files, waits without an end for a server that does
// not answer, and ends the program on some errors.
func Dial(cfg instance.Config) (*Client, error) {
	if ps := cfg.Validate(); len(ps) > 0 {
		return nil, fault.New(fault.Invalid, "argocd: %s: %s", ps[0].Field, ps[0].Message).WithFix("Correct the configuration of Argo CD.")
	}
	transport, err := transportOf(&cfg)
	if err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient(cfg.Address(), grpc.WithTransportCredentials(transport), grpc.WithPerRPCCredentials(token{&cfg}), grpc.WithUserAgent("fairlead"),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: time.Minute, Timeout: 10 * time.Second}))
	if err != nil {
		return nil, fault.New(fault.Invalid, "Argo CD %s: %q cannot be dialled", cfg.Name, cfg.Server).WithFix("Correct server in the section argocd.").Because(err)
	}
	return &Client{cfg: cfg, conn: conn, apps: application.NewApplicationServiceClient(conn)}, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

func transportOf(cfg *instance.Config) (credentials.TransportCredentials, error) {
	if cfg.Plaintext {
		return insecure.NewCredentials(), nil
	}
	conf := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: cfg.Insecure} //nolint:gosec // only where the configuration says so
	if cfg.CAFile != "" {
		pem, err := os.ReadFile(cfg.CAFile)
		pool := x509.NewCertPool()
		if system, e := x509.SystemCertPool(); e == nil {
			pool = system
		}
		if err != nil || !pool.AppendCertsFromPEM(pem) {
			return nil, fault.New(fault.FailedPrecondition, "Argo CD %s: the file %s holds no certificate that can be read", cfg.Name, cfg.CAFile).
				WithFix("Put the certificates there in PEM, or correct caFile.").Because(err)
		}
		conf.RootCAs = pool
	}
	return credentials.NewTLS(conf), nil
}

// token puts the API token on each request.
type token struct{ cfg *instance.Config }

// GetRequestMetadata reads the token.
func (t token) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	text, err := t.cfg.Token()
	if err != nil {
		return nil, err
	}
	return map[string]string{"token": text}, nil
}

// RequireTransportSecurity leaves it to the configuration.
func (token) RequireTransportSecurity() bool { return false }
