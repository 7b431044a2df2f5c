package forge

import (
	"net/url"
	"strings"
)

// Address reads where a forge is: by host, a name with or without a port, or
// by url; without either, otherwise. It adds what is wrong to ps.
func Address(ps *Problems, host, address, otherwise string, secret bool) *url.URL {
	switch {
	case host != "" && address != "":
		ps.Add("host", "name host or url, and not both")
		return nil
	case address != "":
		return ParseURL(ps, "url", address, secret)
	case strings.Contains(host, "://"):
		return ParseURL(ps, "host", host, secret)
	case host != "":
		u := ParseURL(ps, "host", "https://"+host, secret)
		if u != nil && u.Path != "" {
			ps.Add("host", "%q is no name of a host; write it by url", host)
		}
		return u
	case otherwise == "":
		ps.Add("url", "the forge's address is missing")
		return nil
	default:
		return ParseURL(ps, "host", "https://"+otherwise, secret)
	}
}
