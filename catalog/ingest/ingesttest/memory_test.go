package ingesttest

import "testing"

func TestMemory(t *testing.T) {
	Contract(t, func(*testing.T) Fixture {
		m := NewMemory("memory", "https://git.example.test/acme/catalog")
		return Fixture{Source: m, Write: m.Write}
	})
}
