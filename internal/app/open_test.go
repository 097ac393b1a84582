package app

import (
	"slices"
	"testing"

	"github.com/weirhq/weir/internal/auth/door"
)

// Whatever address a server listens on, it knows its own names.
func TestOwnNames(t *testing.T) {
	for listen, want := range map[string]string{
		"0.0.0.0:8470": "127.0.0.1", "[::]:8470": "[::1]", "[2001:db8::1]:8470": "[2001:db8::1]", "192.0.2.1:8470": "192.0.2.1", "127.0.0.1:8470": "",
	} {
		names := ownNames(listen)
		if want != "" && !slices.Contains(names, want) {
			t.Errorf("%s: %v", listen, names)
		}
		if _, err := door.New(nil, door.Config{Hosts: names}); err != nil {
			t.Errorf("%s: %v", listen, err)
		}
	}
}
