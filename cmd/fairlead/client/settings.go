package client

import (
	"io"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// DefaultServer is where a server listens if nobody says otherwise.
const DefaultServer = "http://127.0.0.1:7007"

// maxToken is the size in bytes beyond which a file is no token.
const maxToken = 4096

// Flags are the settings given on the command line; "" is "not given".
type Flags struct {
	Server    string
	TokenFile string
	// Insecure lets a token go over plain HTTP to another machine.
	Insecure bool
}

// Settings say which server to talk to and with which token.
type Settings struct {
	// Server is the server's URL without a trailing slash.
	Server string
	// ServerFrom and TokenFrom say where the settings come from, for people.
	ServerFrom string
	// Token is "" for nobody in particular.
	Token     string
	TokenFrom string
	Insecure  bool
}

// Resolve works out the settings: flags first, then the environment
// (FAIRLEAD_SERVER; FAIRLEAD_TOKEN_FILE, then FAIRLEAD_TOKEN), then what
// `fairlead login` noted. A noted token is used for its own server alone.
func Resolve(f Flags, env func(string) string, logins *Logins) (Settings, error) {
	s := Settings{Insecure: f.Insecure}
	s.Server, s.ServerFrom = chooseServer(f, env, logins)
	server, err := CleanServer(s.Server)
	if err != nil {
		return s, fault.From(err).WithDetail("from", s.ServerFrom)
	}
	s.Server = server
	if s.Token, s.TokenFrom, err = chooseToken(f, env, logins, server); err != nil {
		return s, err
	}
	return s, s.checkTransport()
}

func chooseServer(f Flags, env func(string) string, logins *Logins) (server, from string) {
	switch {
	case f.Server != "":
		return f.Server, "--server"
	case env("FAIRLEAD_SERVER") != "":
		return env("FAIRLEAD_SERVER"), "FAIRLEAD_SERVER"
	case logins.Server != "":
		return logins.Server, "fairlead login"
	default:
		return DefaultServer, "the default"
	}
}

func chooseToken(f Flags, env func(string) string, logins *Logins, server string) (token, from string, err error) {
	switch {
	case f.TokenFile != "":
		token, err = ReadTokenFile(f.TokenFile)
		return token, "--token-file", err
	case env("FAIRLEAD_TOKEN_FILE") != "":
		token, err = ReadTokenFile(env("FAIRLEAD_TOKEN_FILE"))
		return token, "FAIRLEAD_TOKEN_FILE", err
	case env("FAIRLEAD_TOKEN") != "":
		token, err = CleanToken(env("FAIRLEAD_TOKEN"), "the environment variable FAIRLEAD_TOKEN")
		return token, "FAIRLEAD_TOKEN", err
	}
	if token = logins.Token(server); token != "" {
		return token, "fairlead login", nil
	}
	return "", "", nil
}

// CleanServer checks a server's URL and takes off trailing slashes.
func CleanServer(server string) (string, error) {
	bad := func(why string) (string, error) {
		return "", fault.New(fault.Invalid, "the server %q %s", server, why).WithFix("Write it like %s or https://fairlead.example.com.", DefaultServer)
	}
	u, err := url.Parse(strings.TrimSpace(server))
	switch {
	case err != nil || strings.ContainsAny(server, " \t\n"):
		return bad("is not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return bad("does not begin with http:// or https://")
	case u.Hostname() == "":
		return bad("names no host")
	case u.User != nil:
		return "", fault.New(fault.Invalid, "the server's URL holds a user name or password").WithFix("Leave it out, and use --token-file.")
	case u.RawQuery != "" || u.Fragment != "":
		return bad("has a query or fragment")
	}
	return u.Scheme + "://" + strings.ToLower(u.Host) + strings.TrimRight(u.EscapedPath(), "/"), nil
}

// ReadTokenFile reads a file that holds one token.
func ReadTokenFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fault.New(fault.Invalid, "the token file %s cannot be read", path).WithFix("Name a file that holds the token, and that you may read.").Because(err)
	}
	defer f.Close()
	return ReadToken(f, "the token file "+path)
}

// ReadToken reads one token from r; what names it in errors.
func ReadToken(r io.Reader, what string) (string, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxToken+64))
	if err != nil {
		return "", fault.New(fault.Invalid, "%s cannot be read", what).WithFix("Name something that holds one token.").Because(err)
	}
	return CleanToken(string(data), what)
}

// CleanToken takes white space off a token and refuses what cannot be one,
// without showing a byte of it.
func CleanToken(token, what string) (string, error) {
	token = strings.TrimSpace(token)
	switch {
	case token == "":
		return "", fault.New(fault.Invalid, "%s holds no token", what).WithFix("Put the token there, alone.")
	case len(token) > maxToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", fault.New(fault.Invalid, "%s does not hold one token: it is too long, or has white space or unusual characters inside", what).
			WithFix("Put the token there alone, in printable ASCII, at most %d bytes.", maxToken)
	}
	return token, nil
}

// checkTransport keeps tokens off networks that anybody may listen to.
func (s Settings) checkTransport() error {
	u, err := url.Parse(s.Server)
	if err != nil || u.Scheme == "https" || s.Token == "" || s.Insecure || loopback(u.Hostname()) {
		return nil //nolint:nilerr // CleanServer has parsed it before
	}
	return fault.New(fault.Invalid, "the token would go over plain HTTP to %s, where others can read it", u.Host).
		WithFix("Use https://, or --insecure if the network is private.")
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
