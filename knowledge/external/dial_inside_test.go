package external

import (
	"errors"
	"testing"
)

// TestPublicOnly looks at addresses that names may lead to.
func TestPublicOnly(t *testing.T) {
	for address, want := range map[string]error{
		"93.184.215.14:443": nil, "[2606:2800:21f:cb07::1]:443": nil,
		"127.0.0.1:80": errPrivate, "10.1.2.3:443": errPrivate, "192.168.0.1:443": errPrivate, "172.16.0.1:443": errPrivate, "169.254.169.254:80": errPrivate, "100.64.1.1:443": errPrivate,
		"0.0.0.0:80": errPrivate, "255.255.255.255:80": errPrivate, "224.0.0.1:80": errPrivate, "[::1]:80": errPrivate, "[::]:80": errPrivate, "[fe80::1%eth0]:80": errPrivate, "[fd00::1]:80": errPrivate,
		"[::ffff:127.0.0.1]:80": errPrivate, "[::ffff:10.0.0.1]:80": errPrivate, "[64:ff9b::7f00:1]:80": errPrivate, "[2002:7f00:1::]:80": errPrivate, "nowhere:80": errPrivate,
	} {
		if err := publicOnly("tcp", address, nil); !errors.Is(err, want) {
			t.Errorf("%s: %v", address, err)
		}
	}
}
