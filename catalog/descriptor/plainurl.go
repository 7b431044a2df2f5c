package descriptor

import "strings"

// noHost stands in the place of a host for URLs of files on this machine.
const noHost = "file://:@"

// plainURL takes apart at sight what nearly all locations are: https, a host
// that needs no thought, and a path of signs that a parser would leave as they
// are; or a file on this machine, whose host is noHost. Whatever is not that
// plain is left to the parser.
func plainURL(s string) (host, path string, ok bool) {
	if path, ok := strings.CutPrefix(s, "file://"); ok {
		// A colon may be a drive's.
		ok = len(s) <= maxLocation && strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") && strings.IndexByte(path, ':') < 0
		return noHost, path, ok && isPlainPath(path)
	}
	if len(s) > maxLocation || !isPlainURL(s) {
		return "", "", false
	}
	rest := s[len("https://"):]
	slash := strings.IndexByte(rest, '/')
	if slash < 0 {
		return "", "", false
	}
	host, path = rest[:slash], rest[slash:]
	return host, path, isPlainPath(path)
}

// isPlainPath tells whether a parser would change nothing about a path: no
// segment starts with a dot, and nothing has to be encoded.
func isPlainPath(path string) bool {
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '/':
			if i+1 < len(path) && path[i+1] == '.' {
				return false
			}
		case c == '%':
			// %2e is a dot.
			if i+2 < len(path) && path[i+1] == '2' && (path[i+2] == 'e' || path[i+2] == 'E') {
				return false
			}
		case isAlnum(c), strings.IndexByte("-_.~+@:!$&()*,;=", c) >= 0:
		default:
			return false
		}
	}
	return true
}

// urlParts are the parts of a URL that tell one file from another: everything
// before the path, and the path.
func (p *Processor) urlParts(s string) (origin, path string, ok bool) {
	if host, path, ok := plainURL(s); ok {
		return host, path, true
	}
	u, err := p.parse(s)
	if err != nil {
		return "", "", false
	}
	origin = u.Host()
	if u.Scheme() != "https" || u.Username() != "" || u.Password() != "" {
		origin = u.Scheme() + "://" + u.Username() + ":" + u.Password() + "@" + origin
	}
	return origin, u.Pathname(), true
}
