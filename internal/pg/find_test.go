package pg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// install creates a fake server that can only print its version.
func install(t *testing.T, dir, version string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"postgres", "initdb"} {
		script := fmt.Sprintf("#!/bin/sh\necho '%s (PostgreSQL) %s'\n", program, version)
		if err := os.WriteFile(filepath.Join(dir, program), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFindOrder(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(root, name) }
	install(t, in("set/bin"), "15.2")
	install(t, in("path/bin"), "16.3 (Homebrew)")
	install(t, in("old/bin"), "14.9")
	for _, major := range []string{"9", "15", "16", "17", "18"} {
		install(t, in("debian/"+major+"/bin"), major+".1 (Debian "+major+".1-1)")
	}
	// A folder with a client only, as postgresql-client creates it.
	install(t, in("debian/19/bin"), "19.1")
	if err := os.Remove(in("debian/19/bin/initdb")); err != nil {
		t.Fatal(err)
	}
	// A single link on the path, as some packages create it.
	if err := os.Mkdir(in("links"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(in("debian/17/bin/postgres"), in("links/postgres")); err != nil {
		t.Fatal(err)
	}
	// A pg_config on the path, as the development package creates it.
	if err := os.Mkdir(in("config"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in("config/pg_config"), []byte("#!/bin/sh\necho "+in("debian/16/bin")+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	known := []string{in("debian/*/bin")}

	for name, c := range map[string]struct {
		finder finder
		major  int
		want   string // a folder
		err    string // or a part of the error
	}{
		"the setting wins":                     {finder{in("set/bin"), in("path/bin"), known}, 0, "set/bin", ""},
		"then the path":                        {finder{"", in("path/bin"), known}, 0, "path/bin", ""},
		"a link on the path":                   {finder{"", in("links"), known}, 0, "debian/17/bin", ""},
		"pg_config on the path":                {finder{"", in("config"), known}, 0, "debian/16/bin", ""},
		"then the newest of the known":         {finder{"", in("nothing"), known}, 0, "debian/18/bin", ""},
		"too old on the path is passed over":   {finder{"", in("old/bin"), known}, 0, "debian/18/bin", ""},
		"relative path entries do not count":   {finder{"", "path/bin", nil}, 0, "", "no PostgreSQL server found"},
		"data decides over the path":           {finder{"", in("path/bin"), known}, 15, "debian/15/bin", ""},
		"data on the path's version":           {finder{"", in("path/bin"), known}, 16, "path/bin", ""},
		"data of a version that is not here":   {finder{"", in("path/bin"), known}, 14, "", "Install PostgreSQL 14"},
		"data of a version against setting":    {finder{in("set/bin"), in("path/bin"), known}, 17, "", "pg_upgrade"},
		"nothing anywhere":                     {finder{"", in("nothing"), nil}, 0, "", "no PostgreSQL server found"},
		"a setting that is too old":            {finder{in("old/bin"), in("path/bin"), known}, 0, "", "needs 15 or newer"},
		"a setting without a server":           {finder{in("debian/19/bin"), "", known}, 0, "", "install the server package"},
		"a setting that is not there":          {finder{in("nowhere"), in("path/bin"), known}, 0, "", "has no program postgres"},
		"newest first also after an old major": {finder{"", "", []string{in("set/bin"), in("debian/*/bin")}}, 0, "debian/18/bin", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.finder.find(context.Background(), c.major)
			switch {
			case c.err != "":
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %q and error %v, want an error with %q", got.dir, err, c.err)
				}
			case err != nil:
				t.Error(err)
			case got.dir != in(c.want):
				t.Errorf("got %s, want %s", got.dir, c.want)
			}
		})
	}
	_, err = finder{"", in("path/bin"), nil}.find(context.Background(), 15)
	if !errors.Is(err, ErrMajorVersion) {
		t.Errorf("got %v, want ErrMajorVersion", err)
	}
}
