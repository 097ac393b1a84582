package app

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/weirhq/weir/internal/problem"
)

// Target is where a command works: on a database, or through a server's API.
type Target struct {
	// Database is the address of the database. Empty: a server is asked.
	Database string
	// Server is the address of the API, Token who asks; User is whose it is, if
	// that is known.
	Server, Token, User string
	// Context is the name of the context that said so, if one did.
	Context string
	// Origin is who said so: a flag, a variable, a file, a context, a folder.
	Origin string
	// Dashboard is the address of the dashboard, if it is known.
	Dashboard string
	// Running is the Weir of this machine that was found, if one was.
	Running *Running
	// config says where that Weir keeps what is not in the database.
	config Config
}

// private says that it is a Weir of this machine, with a data folder.
func (t Target) private() bool { return t.Running != nil }

// LinkURL is the address that uses a one-time link: the path alone where it is
// not known where the dashboard is.
func (t Target) LinkURL(secret string) string {
	return t.Dashboard + "/setup?code=" + url.QueryEscape(secret)
}

// Remote says that a server is asked.
func (t Target) Remote() bool { return t.Database == "" }

// Asked is what is asked, for people: it holds no password and no token.
func (t Target) Asked() string {
	if t.Remote() {
		return t.Server
	}
	return MaskURL(t.Database)
}

// clientSetting is a setting of commands alone: a server reads none of them.
type clientSetting struct{ name, help string }

var clientSettings = []clientSetting{
	{"server", "server whose API commands ask, such as https://weir.example.org"},
	{"token", "token for that server; safer in the environment or a context than on the command line"},
	{"context", "context of the contexts file to use; weir context list shows them"},
}

// ClientSettings describes them to those who offer them as flags.
func ClientSettings() []Setting {
	out := make([]Setting, len(clientSettings))
	for i, s := range clientSettings {
		out[i] = Setting{Name: s.name, Flag: s.name, Variable: "WEIR_" + strings.ToUpper(s.name), Help: s.help}
	}
	return out
}

// ClientValues reads the settings of commands with their origins. The token is
// as it was given: mask it before showing it.
func ClientValues(src Source) []Value {
	env := src.Env
	if env == nil {
		env = os.LookupEnv
	}
	values := make([]Value, 0, len(clientSettings))
	for _, s := range ClientSettings() {
		v := Value{Name: s.Name, Variable: s.Variable, Help: s.Help, Origin: "default"}
		if text, ok := src.Flags[s.Name]; ok {
			v.Value, v.Origin = text, "--"+s.Flag
		} else if text, ok := env(s.Variable); ok && text != "" {
			v.Value, v.Origin = text, s.Variable
		}
		values = append(values, v)
	}
	// A token of the environment is for the server of the environment, not for
	// another that a flag names; alone there, it is for whichever is named.
	server, token := values[0], &values[1]
	if meant, ok := env(server.Variable); ok && meant != "" && rank(server) == 3 && rank(*token) == 2 && !sameServer(meant, server.Value) {
		token.Value, token.Origin = "", "default"
	}
	return values
}

func sameServer(a, b string) bool {
	one, err := ServerURL(a)
	if err != nil {
		return false
	}
	other, err := ServerURL(b)
	return err == nil && one == other
}

// MaskToken shows enough of a token to tell it from another.
func MaskToken(token string) string {
	if token == "" {
		return ""
	}
	kind := ""
	if i := strings.LastIndex(token, "_"); i >= 0 {
		kind = token[:i+1]
	}
	return kind + "***"
}

// rank orders origins: what is nearer to the person wins.
func rank(v Value) int {
	switch {
	case v.Value == "" || v.Origin == "default":
		return 0
	case strings.HasPrefix(v.Origin, "--"):
		return 3
	case strings.HasPrefix(v.Origin, "WEIR_"):
		return 2
	}
	return 1
}

// FindTarget decides where a command works. A flag wins over the environment,
// that over the configuration file, that over the current context, and that
// over the Weir of this machine. Of what was said in the same place, a database
// wins over a server, that over a context, that over a data folder.
func FindTarget(c Config, values []Value) (Target, error) {
	said := map[string]Value{}
	for _, v := range values {
		said[v.Name] = v
	}
	if err := contradiction(said); err != nil {
		return Target{}, err
	}
	best, most := "", 0
	for _, name := range []string{"database_url", "server", "context", "data"} {
		r := rank(said[name])
		if name == "data" && r < 2 {
			r = 0 // a folder in a file is where the server of this machine has its data
		}
		if r > most {
			best, most = name, r
		}
	}
	switch best {
	case "database_url":
		return Target{Database: c.DatabaseURL, Origin: said["database_url"].Origin, Dashboard: strings.TrimRight(c.PublicURL, "/"), config: c}, nil
	case "server":
		return serverTarget(said)
	case "context":
		return contextTarget(said["context"].Value, said["context"].Origin)
	case "data":
		return localTarget(c, values)
	}
	contexts, err := ReadContexts()
	if err == nil && contexts.Current != "" {
		return contextTarget(contexts.Current, "context "+contexts.Current)
	}
	target, missing := localTarget(c, values)
	if missing != nil && err != nil {
		return Target{}, err // what is wrong with the contexts is why none was taken
	}
	return target, missing
}

// contradiction finds two flags that cannot both be meant.
func contradiction(said map[string]Value) error {
	var flags []string
	for _, name := range []string{"database_url", "server", "context"} {
		if rank(said[name]) == 3 {
			flags = append(flags, said[name].Origin)
		}
	}
	switch {
	case len(flags) > 1:
		return problem.New(problem.Invalid, "give only one of them", "%s each say where to work", strings.Join(flags, " and "))
	case rank(said["token"]) == 3 && rank(said["server"]) == 0:
		return problem.New(problem.Invalid, "give --server too, or keep both as a context", "--token is for a server, and none is named").Run("weir context add NAME --server URL --token-stdin")
	}
	return nil
}

func serverTarget(said map[string]Value) (Target, error) {
	server, err := ServerURL(said["server"].Value)
	if err != nil {
		return Target{}, err
	}
	t := Target{Server: server, Origin: said["server"].Origin, Dashboard: server}
	if token := said["token"]; rank(token) > 0 {
		t.Token = token.Value
		return t, nil
	}
	contexts, err := ReadContexts()
	if err != nil {
		return t, err
	}
	t.Token = contexts.tokenFor(server)
	return t, nil
}

func contextTarget(name, origin string) (Target, error) {
	contexts, err := ReadContexts()
	if err != nil {
		return Target{}, err
	}
	found, err := contexts.Get(name)
	if err != nil {
		return Target{}, err
	}
	server, err := ServerURL(found.Server)
	if err != nil {
		return Target{}, fmt.Errorf("context %s: %w", name, err)
	}
	return Target{Server: server, Token: found.Token, User: found.User, Context: name, Origin: origin, Dashboard: server}, nil
}

// localTarget is the Weir of this machine: the one in the data folder. If nobody
// said which folder, the likely ones are tried.
func localTarget(c Config, values []Value) (Target, error) {
	folders := []string{c.Data}
	for _, v := range values {
		if v.Name == "data" && v.Origin == "default" {
			folders = dataFolders()
		}
	}
	var failed error
	for _, folder := range folders {
		r, err := ReadRunning(folder)
		if err == nil {
			c.Data = folder
			if err := c.adopt(r, values); err != nil {
				return Target{}, err
			}
			return Target{Database: r.DatabaseURL, Origin: "the Weir in " + folder, Dashboard: strings.TrimRight(r.URL, "/"), Running: &r, config: c}, nil
		}
		failed = errors.Join(failed, err)
	}
	return Target{}, &problem.Problem{
		Kind: problem.Unreachable,
		What: fmt.Sprintf("no running Weir was found in %s", strings.Join(folders, " or ")),
		Next: "start one with: weir up, or say where it is with --data DIR, --database-url URL or weir login SERVER",
		Err:  failed,
	}
}

// DatabaseURL is the address of the database, for what can be done only there:
// the one that is set, or that of the Weir of this machine.
func DatabaseURL(c Config, values []Value) (string, error) {
	named, data := 0, 0
	for _, v := range values {
		switch v.Name {
		case "database_url":
			named = rank(v)
		case "data":
			data = rank(v)
		}
	}
	if c.DatabaseURL != "" && (named >= data || data < 2) {
		return c.DatabaseURL, nil
	}
	t, err := localTarget(c, values)
	return t.Database, err
}
