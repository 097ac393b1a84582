package http

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/weirhq/weir/internal/problem"
)

// The address is checked when the connection is made, so that a name which changes its
// address after the first check gains nothing. The first check is left out here.
func TestDialJudgesTheAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		allow  []string
		target string
		want   bool
	}{
		"allowed":                      {loopback, "localhost:" + port, true},
		"a name that leads elsewhere":  {[]string{"10.0.0.0/8", "render.lan"}, "localhost:" + port, false},
		"an address that is not ours":  {[]string{"10.0.0.0/8"}, "127.0.0.1:" + port, false},
		"unspecified leads to us too":  {loopback, "0.0.0.0:" + port, false},
		"the port counts when dialing": {[]string{"localhost:1"}, "localhost:" + port, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d, err := New(Config{Allow: test.allow})
			if err != nil {
				t.Fatal(err)
			}
			conn, err := d.dial(context.Background(), "tcp", test.target)
			if err == nil {
				conn.Close()
			}
			refusal := new(problem.Problem)
			if (err == nil) != test.want || err != nil && (!errors.As(err, &refusal) || refusal.Kind != problem.Forbidden) {
				t.Errorf("error %v", err)
			}
		})
	}
}
