package previews

import (
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

var (
	resourceRef = regexp.MustCompile(`(?i)resource:\s*([a-z0-9._-]+/)?([a-z0-9._-]+)`)
	// before is what stands before the place of a host: the end of a scheme or
	// of a user, or a key of a connection string.
	before = regexp.MustCompile(`(?i)(?:://|//|@|@tcp\(|\b(?:host|hostname|hostaddr|server|addr|address|data source|endpoint)\s*[=:]\s*)["']?$`)
	ipv6   = regexp.MustCompile(`[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*`)
)

// resourcesIn are the resources that a text refers to, by full reference.
func resourcesIn(text string) (out []string) {
	for _, form := range forms(text) {
		for _, m := range resourceRef.FindAllStringSubmatch(form, -1) {
			namespace := strings.ToLower(strings.TrimSuffix(m[1], "/"))
			if namespace == "" {
				namespace = "default"
			}
			out = append(out, "resource:"+namespace+"/"+strings.ToLower(strings.TrimRight(m[2], ".")))
		}
	}
	return out
}

// named is what may be a host in a text; placed tells that it stands where
// only a host can.
type named struct {
	name   string
	placed bool
}

// forms are a text as it is, and with %41 written as A.
func forms(text string) []string {
	if plain, err := url.PathUnescape(text); err == nil && plain != text {
		return []string{text, plain}
	}
	return []string{text}
}

// hostsIn are all words of a text that may be hosts, in one writing, whatever
// stands around them: URLs with users, ports and several hosts, and connection
// strings of any kind.
func hostsIn(text string) (out []named) {
	for _, form := range forms(text) {
		for _, at := range ipv6.FindAllStringIndex(form, -1) {
			if a, err := netip.ParseAddr(strings.Trim(form[at[0]:at[1]], ".")); err == nil {
				out = append(out, named{a.Unmap().String(), true})
			}
		}
		from, run := -1, false // run: among hosts and ports, one after the other
		for i, r := range form + " " {
			switch {
			case ofHost(r) && from < 0:
				from, run = i, before.MatchString(form[max(0, i-24):i]) && !isUser(form[i:]) || run && strings.HasSuffix(form[:i], ",") || run && strings.HasSuffix(form[:i], ":")
			case !ofHost(r) && from >= 0:
				if name := canonical(form[from:i]); name != "" {
					isPort := strings.HasSuffix(form[:from], ":") && !before.MatchString(form[max(0, from-24):from])
					out = append(out, named{name, run && !isPort || strings.TrimSpace(form) == form[from:i]})
				}
				from = -1
			}
		}
	}
	return out
}

// isUser tells whether what begins here is followed by the host that it is a
// user of.
func isUser(rest string) bool {
	if end := strings.IndexAny(rest, "/?# \t\n\"'"); end >= 0 {
		rest = rest[:end]
	}
	return strings.Contains(rest, "@")
}

// ofHost tells whether a character can be part of a host's name, however it is
// written: the dots of other scripts are dots, too.
func ofHost(r rune) bool {
	return r == '.' || r == '-' || r == '_' || r == '\u3002' || r == '\uff0e' || r == '\uff61' || r == '\u00ad' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// canonical writes a host in one way: in lower case, in ASCII, without a dot at
// its end; an address as Go writes it, however C would read it. "" is no host.
func canonical(host string) string {
	ascii, err := idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false)).ToASCII(strings.Trim(host, ".-"))
	if err != nil {
		ascii = strings.ToLower(host)
	}
	ascii = strings.Trim(strings.ToLower(ascii), ".-")
	if a, ok := inetAton(ascii); ok {
		return a.String()
	}
	return ascii
}

// inetAton reads an IPv4 address as C does: one to four numbers, the last of
// which fills what is left, in decimal, octal or hexadecimal.
func inetAton(text string) (netip.Addr, bool) {
	parts := strings.Split(text, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var value uint64
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 0, 64)
		most := uint64(255)
		if i == len(parts)-1 {
			most = 1<<(8*(5-len(parts))) - 1
		}
		if err != nil || n > most || strings.Contains(p, "_") {
			return netip.Addr{}, false
		}
		if i == len(parts)-1 {
			value = value<<(8*(5-len(parts))) | n
		} else {
			value = value<<8 | n
		}
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}

// addressesIn are the hosts of a text that is an address: a URL, or a host with
// or without a port. Of other texts, prose for example, there are none.
func addressesIn(text string) (out []string) {
	text = strings.TrimSpace(text)
	if len(text) > 4096 || strings.ContainsAny(text, " \t\n") {
		return nil
	}
	whole := !strings.Contains(text, "://")
	if whole && strings.ContainsAny(text, "/@=?,") {
		return nil
	}
	for _, h := range hostsIn(text) {
		isAddress := strings.ContainsAny(h.name, ".:") && strings.ContainsFunc(h.name, func(r rune) bool { return unicode.IsLetter(r) || r == ':' })
		if _, err := netip.ParseAddr(h.name); err == nil {
			isAddress = strings.Contains(text, h.name) || strings.Contains(h.name, ":") // and no port or version
		}
		if h.placed && (isAddress || !whole) || whole && isAddress {
			out = append(out, h.name)
		}
	}
	return out
}

// isLoopback tells whether a host is this machine's own.
func isLoopback(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.IsLoopback() || a.IsUnspecified()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
