package realtest

import "testing"

func TestRedisStartsAgain(t *testing.T) {
	s := Redis(t)
	s.Stop()
	if s.ping() == nil {
		t.Error("it answers when it has been stopped")
	}
	s.Start(t)
}
