package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/problem"
)

// Where a command works: what is nearer to the person wins.
func TestFindTarget(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	contexts, err := ReadContexts()
	if err != nil {
		t.Fatal(err)
	}
	for name, token := range map[string]string{"one": "weir_pat_one", "two": "weir_pat_two"} {
		if err := contexts.Set(name, Context{Server: name + ".example.org", Token: token, User: "ada"}); err != nil {
			t.Fatal(err)
		}
	}
	contexts.Current = "one"
	if err := contexts.Write(); err != nil {
		t.Fatal(err)
	}
	local := t.TempDir()
	if err := writeRunning(local, Running{DatabaseURL: "postgres://local/weir", URL: "http://127.0.0.1:8470/"}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "weir.toml")
	if err := os.WriteFile(file, []byte(`database_url = "postgres://file/weir"`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name       string
		flags, env map[string]string
		file       string
		// want is the database or the server, and the token.
		want, token string
	}{
		{name: "nothing said: the current context", want: "https://one.example.org", token: "weir_pat_one"},
		{name: "a file over the context", file: file, want: "postgres://file/weir"},
		{name: "a variable over the file", file: file, env: map[string]string{"WEIR_SERVER": "x.example.org", "WEIR_TOKEN": "t"}, want: "https://x.example.org", token: "t"},
		{name: "a database over a server", env: map[string]string{"WEIR_SERVER": "x.example.org", "WEIR_DATABASE_URL": "postgres://env/weir"}, want: "postgres://env/weir"},
		{name: "a flag over variables", flags: map[string]string{"context": "two"}, env: map[string]string{"WEIR_DATABASE_URL": "postgres://env/weir"}, want: "https://two.example.org", token: "weir_pat_two"},
		{name: "a folder by flag over variables", flags: map[string]string{"data": local}, env: map[string]string{"WEIR_DATABASE_URL": "postgres://env/weir", "WEIR_CONTEXT": "two"}, want: "postgres://local/weir"},
		{name: "a context by variable", env: map[string]string{"WEIR_CONTEXT": "two"}, want: "https://two.example.org", token: "weir_pat_two"},
		{name: "the token of a known server", flags: map[string]string{"server": "two.example.org"}, want: "https://two.example.org", token: "weir_pat_two"},
		{name: "no token of another server", flags: map[string]string{"server": "x.example.org"}, env: map[string]string{"WEIR_SERVER": "y.example.org", "WEIR_TOKEN": "t"}, want: "https://x.example.org"},
		{name: "a token by flag", flags: map[string]string{"server": "two.example.org", "token": "t"}, want: "https://two.example.org", token: "t"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := Source{Flags: c.flags, File: c.file, Env: func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }}
			config, values, err := Load(src)
			if err != nil {
				t.Fatal(err)
			}
			got, err := FindTarget(config, append(values, ClientValues(src)...))
			if err != nil {
				t.Fatal(err)
			}
			if got.Database+got.Server != c.want || got.Token != c.token {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// A command beside a server of this machine means the same bucket, keys and
// scripts, unless it is told otherwise.
func TestCommandSharesSettings(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	data := t.TempDir()
	server := Config{WakeScripts: "scripts", WakeURLs: []string{"https://power.example.org/"}, Bucket: "s3://k:s@host/b", Listen: "127.0.0.1:1"}
	if err := writeRunning(data, Running{DatabaseURL: "postgres://local/weir", Settings: server.share()}); err != nil {
		t.Fatal(err)
	}
	config, values, err := Load(Source{Flags: map[string]string{"data": data}, Env: func(name string) (string, bool) { return "folder:///mine", name == "WEIR_BUCKET" }})
	if err != nil {
		t.Fatal(err)
	}
	target, err := FindTarget(config, append(values, ClientValues(Source{Env: func(string) (string, bool) { return "", false }})...))
	if err != nil {
		t.Fatal(err)
	}
	got := target.config
	if !filepath.IsAbs(got.WakeScripts) || filepath.Base(got.WakeScripts) != "scripts" || len(got.WakeURLs) != 1 || got.Bucket != "folder:///mine" || got.Listen == server.Listen {
		t.Errorf("scripts %q, URLs %q, bucket %q, listen %q", got.WakeScripts, got.WakeURLs, got.Bucket, got.Listen)
	}
}

func TestContextsFileIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "weir", "contexts.toml")
	contexts, err := readContexts(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := contexts.Set("a", Context{Server: "a.example.org", Token: "weir_pat_a"}); err != nil {
		t.Fatal(err)
	}
	if err := contexts.Write(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	again, err := readContexts(path)
	if err != nil || again.Servers["a"].Token != "weir_pat_a" || again.Current != "a" {
		t.Errorf("read back %+v, %v", again, err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	_, err = readContexts(path)
	if p := problem.Explain(err); p.Kind != problem.Invalid || !strings.Contains(p.Next, "chmod 600") {
		t.Errorf("a file that others may read: %v, next %q", err, p.Next)
	}
}

func TestServerURL(t *testing.T) {
	for text, want := range map[string]string{
		"weir.example.org": "https://weir.example.org", "127.0.0.1:8470": "http://127.0.0.1:8470", "localhost:1": "http://localhost:1", "[::1]:1": "http://[::1]:1",
		"http://a.example.org/": "http://a.example.org", "https://a.example.org/weir/": "https://a.example.org/weir",
	} {
		if got, err := ServerURL(text); err != nil || got != want {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "ftp://x", "https://", "https://me:pw@x", "https://x?a=1", "https://x#a", "http://a b"} {
		if got, err := ServerURL(text); err == nil {
			t.Errorf("%q was accepted as %q", text, got)
		}
	}
}

func TestMaskToken(t *testing.T) {
	for token, want := range map[string]string{"": "", "weir_pat_abc": "weir_pat_***", "plain": "***"} {
		if got := MaskToken(token); got != want {
			t.Errorf("%q: got %q", token, got)
		}
	}
}
