package server

import "testing"

func TestURL(t *testing.T) {
	for _, c := range []struct{ base, database, want string }{
		{"postgres://u:p@h:1/postgres?sslmode=disable", "x", "postgres://u:p@h:1/x?sslmode=disable"},
		{"postgres://u:p@h:1/postgres", "", "postgres://u:p@h:1/postgres"},
		{"postgres://h", "x", "postgres://h/x"},
		{"host=h dbname=postgres", "x", "host=h dbname=postgres dbname=x"},
	} {
		if got := (&Server{url: c.base}).URL(c.database); got != c.want {
			t.Errorf("URL(%q) on %q = %q, want %q", c.database, c.base, got, c.want)
		}
	}
}
