package oidctest

import (
	"encoding/base64"
	"testing"
)

func decoded(t testing.TB, part string) []byte {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		t.Error(err)
	}
	return text
}
