package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/buildtest"
	"github.com/weirhq/weir/internal/mariatest"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

// run runs the tests on one cluster for all of them, with weir in the path.
func run(m *testing.M) int {
	dir, err := buildtest.Programs("cmd/weir")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if os.Getenv(testdb.URLVariable) == "" {
		cluster, stop, err := testdb.StartCluster(context.Background())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() {
			if err := stop(); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}()
		os.Setenv(testdb.URLVariable, cluster.URL("postgres"))
	}
	return testwait.Ended(m.Run(), goleak.IgnoreTopFunction("os/exec.(*Cmd).Wait"), goleak.IgnoreAnyFunction("github.com/weirhq/weir/internal/pg.spawn.func1"))
}

// Every script has a database of its own and runs the real command as a process
// of its own.
func TestScript(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			runScript(t, file, string(text))
		})
	}
}

func runScript(t *testing.T, file, text string) {
	variables := []string{"WEIR_POSTGRES_BIN=" + os.Getenv("WEIR_POSTGRES_BIN")}
	if strings.Contains(text, "EMPTY_DATABASE_URL") {
		variables = append(variables, "EMPTY_DATABASE_URL="+testdb.NewEmpty(t).URL)
	}
	if strings.Contains(text, "MARIA_DSN") {
		variables = append(variables, "MARIA_DSN="+mariatest.New(t).DSN)
	}
	if !strings.Contains(text, "exec weir up") {
		variables = append(variables, "WEIR_DATABASE_URL="+testdb.New(t).URL)
	}
	root := t.TempDir()
	for _, dir := range []string{filepath.Dir(root), root} {
		if err := os.Chmod(dir, 0o711); err != nil { // the server of root's PostgreSQL is another user
			t.Fatal(err)
		}
	}
	testscript.Run(t, testscript.Params{
		Files:       []string{file},
		WorkdirRoot: root,
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, variables...)
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("WEIR_DRAIN_DELAY", "none") // no balancer has to hear of a stop
			if cache, err := os.UserCacheDir(); err == nil {
				e.Setenv("XDG_CACHE_HOME", cache) // the parser's machine code is there
			}
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "config"))
			return os.Chmod(e.WorkDir, 0o711)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "serve": serve, "sql": sql, "set": set, "ready": ready, "refused": refused, "gone": gone, "postmaster": postmaster, "holds": holds, "archive": archive, "target": newTarget, "in": inTarget, "maria": inMaria,
		},
	})
}

// exits CODE COMMAND runs a command and wants this exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		got = failed.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// sql STATEMENT runs a statement.
func sql(ts *testscript.TestScript, _ bool, args []string) {
	conn := connect(ts)
	defer conn.Close(context.Background())
	_, err := conn.Exec(context.Background(), strings.Join(args, " "))
	ts.Check(err)
}

// set NAME STATEMENT puts what a statement returns into a variable.
func set(ts *testscript.TestScript, _ bool, args []string) {
	conn := connect(ts)
	defer conn.Close(context.Background())
	var value string
	ts.Check(conn.QueryRow(context.Background(), strings.Join(args[1:], " ")).Scan(&value))
	ts.Setenv(args[0], value)
}

func connect(ts *testscript.TestScript) *pgx.Conn {
	conn, err := pgx.Connect(context.Background(), ts.Getenv("WEIR_DATABASE_URL"))
	ts.Check(err)
	return conn
}

// ready FOLDER waits until the server of that folder is ready, and puts its
// address into $ADDRESS and its process id into $PID.
func ready(ts *testscript.TestScript, _ bool, args []string) {
	last := "nothing was written to server.json"
	ok := eventually(func() bool {
		r, err := app.ReadRunning(ts.MkAbs(args[0]))
		if err != nil || !alive(r.Pid) {
			return false
		}
		response, err := (&http.Client{Timeout: 10 * time.Second}).Get("http://" + r.Listen + "/readyz")
		if err != nil {
			last = err.Error()
			return false
		}
		defer response.Body.Close()
		defer http.DefaultClient.CloseIdleConnections()
		last = response.Status
		ts.Setenv("ADDRESS", r.Listen)
		ts.Setenv("PID", strconv.Itoa(r.Pid))
		return response.StatusCode == http.StatusOK
	})
	if !ok {
		ts.Fatalf("the server did not become ready: %s", last)
	}
}

// refused ADDRESS wants nobody to listen there any more.
func refused(ts *testscript.TestScript, _ bool, args []string) {
	if !eventually(func() bool {
		response, err := (&http.Client{Timeout: 10 * time.Second}).Get("http://" + args[0] + "/healthz")
		if err == nil {
			response.Body.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	}) {
		ts.Fatalf("somebody still answers at %s", args[0])
	}
}

// holds FILE PATTERN waits until a line of the file matches.
func holds(ts *testscript.TestScript, _ bool, args []string) {
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	if !eventually(func() bool {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && pattern.Match(text)
	}) {
		ts.Fatalf("%s does not hold %s", args[0], args[1])
	}
}

// postmaster NAME FOLDER puts the process id of the folder's PostgreSQL into a
// variable.
func postmaster(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(filepath.Join(args[1], "postgres", "data", "postmaster.pid"))
	pid, _, _ := strings.Cut(text, "\n")
	ts.Setenv(args[0], pid)
}

// gone PID wants a process to be no more.
func gone(ts *testscript.TestScript, _ bool, args []string) {
	for _, arg := range args {
		pid, err := strconv.Atoi(arg)
		ts.Check(err)
		if !eventually(func() bool { return !alive(pid) }) {
			ts.Fatalf("process %d still runs", pid)
		}
	}
}

// alive reports whether a process runs. One that has ended and was not yet
// waited for does not.
func alive(pid int) bool {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		_, after, _ := strings.Cut(string(stat), ") ")
		return !strings.HasPrefix(after, "Z")
	}
	return syscall.Kill(pid, 0) == nil
}

// eventually polls until ok or the limit of patience.
func eventually(ok func() bool) bool {
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Limit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
