package main

import (
	"context"
	"errors"
	"testing"
)

func TestTheDemoEndsWithTheServerThatIsNotReadyYet(t *testing.T) {
	never := func() bool { return false }
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for name, tt := range map[string]struct {
		ctx context.Context
		end error
	}{
		"a server that was stopped": {stopped, nil},
		"a server that ended":       {t.Context(), nil},
		"a server that failed":      {t.Context(), errors.New("no disk")},
	} {
		failed := make(chan error, 1)
		failed <- tt.end
		if ended, err := awaitReady(tt.ctx, never, failed); !ended || !errors.Is(err, tt.end) {
			t.Errorf("%s: ended %t with %v, want %v", name, ended, err, tt.end)
		}
	}
	if ended, err := awaitReady(t.Context(), func() bool { return true }, nil); ended || err != nil {
		t.Errorf("a server that is ready has ended: %t, %v", ended, err)
	}
}
