package http_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/agent/driver/http"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/testwait"
)

func TestMain(m *testing.M) { os.Exit(testwait.Ended(m.Run())) }

// generous is a timeout that only a hanging test reaches.
const generous = time.Minute

type output struct {
	mu             sync.Mutex
	stdout, stderr bytes.Buffer
}

type stream struct {
	o  *output
	to *bytes.Buffer
}

func (s stream) Write(p []byte) (int, error) {
	s.o.mu.Lock()
	defer s.o.mu.Unlock()
	return s.to.Write(p)
}

func (o *output) Stdout() io.Writer     { return stream{o, &o.stdout} }
func (o *output) Stderr() io.Writer     { return stream{o, &o.stderr} }
func (o *output) Taken() (int64, int64) { return 0, 0 }
func (o *output) Alive()                {}

func (o *output) text() (stdout, stderr string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stdout.String(), o.stderr.String()
}

func newDriver(t *testing.T, cfg http.Config) *http.Driver {
	t.Helper()
	d, err := http.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func service(t *testing.T, handler nethttp.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

func work(url string) driver.Work {
	return driver.Work{
		Task: "t1", Job: "j1", Key: "step", Attempt: 2, Fence: "f1", Params: json.RawMessage(`{"x":1}`),
		Run: node.Run{Driver: "http", URL: url}, Env: map[string]string{"TOKEN": "s3cret"},
	}
}

// run posts the work and waits for the end.
func run(t *testing.T, d *http.Driver, w driver.Work) (driver.Exit, *output) {
	t.Helper()
	out := &output{}
	r, err := d.Start(context.Background(), w, out)
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	return wait(t, r), out
}

func wait(t *testing.T, r driver.Running) driver.Exit {
	t.Helper()
	exit, _ := end(t, r)
	return exit
}

// end also returns whether the service refused the work permanently.
func end(t *testing.T, r driver.Running) (exit driver.Exit, final bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), generous)
	defer cancel()
	exit, err := r.Wait(ctx)
	p := new(problem.Problem)
	if err != nil && (!errors.As(err, &p) || p.Kind != problem.Invalid || p.What != exit.Reason) {
		t.Fatalf("wait: %v", err)
	}
	return exit, err != nil
}

func TestPostsTheWork(t *testing.T) {
	url := service(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != "POST" || r.Header.Get("Authorization") != "Bearer s3cret" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s with %v", r.Method, r.Header)
		}
		if want := `{"task":"t1","job":"j1","key":"step","attempt":2,"fence":"f1","params":{"x":1}}`; string(body) != want {
			t.Errorf("body %s, want %s", body, want)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{\n  \"ok\": true\n}\n")
	})
	w := work(url + "/run?colour=green")
	w.Run.Headers = map[string]string{"authorization": "Bearer ${TOKEN}"}
	exit, out := run(t, newDriver(t, http.Config{}), w)
	if exit.Code != 0 || string(exit.Result) != "{\n  \"ok\": true\n}" {
		t.Errorf("exit %+v with result %q", exit, exit.Result)
	}
	if stdout, stderr := out.text(); stdout+stderr != "" {
		t.Errorf("output %q, %q; want none", stdout, stderr)
	}
}

func TestAnswers(t *testing.T) {
	tests := map[string]struct {
		kind, body     string
		stdout, result string
		code           int
	}{
		"nothing":                {"", "", "", "", 0},
		"JSON":                   {"application/json; charset=utf-8", `[1,2]`, "", `[1,2]`, 0},
		"JSON after commands":    {"application/json", "::progress 40\n{\"k\":1}\n::progress 100", "::progress 40\n::progress 100\n", `{"k":1}`, 0},
		"lines":                  {"application/x-ndjson", "::progress 40\nhello\n{\"k\":1}\n", "::progress 40\nhello\n{\"k\":1}\n", `{"k":1}`, 0},
		"lines, log at the end":  {"text/plain", "{\"k\":1}\n{\"k\":2}\nbye", "{\"k\":1}\n{\"k\":2}\nbye\n", `{"k":2}`, 0},
		"lines of a very long":   {"text/plain", strings.Repeat("x", 200_000) + "\n::progress 7\n", strings.Repeat("x", 200_000) + "\n::progress 7\n", "", 0},
		"a command in a long":    {"application/json", `"` + strings.Repeat("x", 64<<10-1) + `::progress 9"`, "", `"` + strings.Repeat("x", 64<<10-1) + `::progress 9"`, 0},
		"no JSON":                {"application/json", "<html>", "", "", 1},
		"too large":              {"application/json", `"` + strings.Repeat("x", 1<<20) + `"`, "", "", 1},
		"too large, one command": {"application/json", "::result 1\n" + `"` + strings.Repeat("x", 1<<20) + `"`, "::result 1\n", "", 1},
	}
	d := newDriver(t, http.Config{})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			url := service(t, func(w nethttp.ResponseWriter, _ *nethttp.Request) {
				w.Header().Set("Content-Type", test.kind)
				_, _ = io.WriteString(w, test.body)
			})
			exit, out := run(t, d, work(url))
			if exit.Code != test.code || string(exit.Result) != test.result {
				t.Errorf("code %d (%s), result %.80q; want %d, %.80q", exit.Code, exit.Reason, exit.Result, test.code, test.result)
			}
			if stdout, _ := out.text(); stdout != test.stdout {
				t.Errorf("stdout %.80q, want %.80q", stdout, test.stdout)
			}
		})
	}
}

// A line arrives when it is sent, not when the answer ends.
func TestLinesArriveAsTheyAreSent(t *testing.T) {
	goOn := make(chan struct{})
	url := service(t, func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "::progress 40\n")
		w.(nethttp.Flusher).Flush()
		<-goOn
		_, _ = io.WriteString(w, `{"k":1}`)
	})
	out := &output{}
	r, err := newDriver(t, http.Config{}).Start(context.Background(), work(url), out)
	if err != nil {
		t.Fatal(err)
	}
	testwait.Until(t, "the progress comes", func() bool { stdout, _ := out.text(); return stdout == "::progress 40\n" })
	close(goOn)
	if exit := wait(t, r); string(exit.Result) != `{"k":1}` {
		t.Errorf("exit %+v", exit)
	}
}

func TestStatuses(t *testing.T) {
	tests := map[int]bool{400: true, 404: true, 408: false, 422: true, 425: false, 429: false, 500: false, 503: false}
	d := newDriver(t, http.Config{})
	for status, final := range tests {
		t.Run(nethttp.StatusText(status), func(t *testing.T) {
			url := service(t, func(w nethttp.ResponseWriter, _ *nethttp.Request) {
				nethttp.Error(w, "no such render preset\nat line 3", status)
			})
			out := &output{}
			r, err := d.Start(context.Background(), work(url), out)
			if err != nil {
				t.Fatal(err)
			}
			exit, got := end(t, r)
			if exit.Code != status || got != final || !strings.HasSuffix(exit.Reason, nethttp.StatusText(status)+": no such render preset") {
				t.Errorf("exit %+v, want code %d and final %v", exit, status, final)
			}
			if _, stderr := out.text(); stderr != "no such render preset\nat line 3\n" {
				t.Errorf("stderr %q", stderr)
			}
		})
	}
}

func TestNobodyThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	exit, _ := run(t, newDriver(t, http.Config{}), work("http://"+l.Addr().String()))
	if exit.Code != 1 || !strings.HasSuffix(exit.Reason, "connection refused") {
		t.Errorf("exit %+v, want a refused connection that is worth a retry", exit)
	}
}

func TestAnswerBreaksOff(t *testing.T) {
	url := service(t, func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, `{"k":1}`)
		w.(nethttp.Flusher).Flush()
		panic(nethttp.ErrAbortHandler)
	})
	exit, _ := run(t, newDriver(t, http.Config{}), work(url))
	if exit.Code == 0 || exit.Result != nil {
		t.Errorf("exit %+v, want a failure that is worth a retry", exit)
	}
}

// A POST is sent once, because the service may have started when the connection breaks.
func TestPostIsNotRepeated(t *testing.T) {
	var mu sync.Mutex
	posts := 0
	url := service(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		mu.Lock()
		posts++
		n := posts
		mu.Unlock()
		if n > 1 {
			panic(nethttp.ErrAbortHandler)
		}
	})
	d := newDriver(t, http.Config{})
	if exit, _ := run(t, d, work(url)); exit.Code != 0 {
		t.Fatalf("exit %+v", exit)
	}
	if exit, _ := run(t, d, work(url)); exit.Code == 0 {
		t.Fatalf("exit %+v", exit)
	}
	mu.Lock()
	defer mu.Unlock()
	if posts != 2 {
		t.Errorf("%d posts for 2 calls", posts)
	}
}

func TestStopCutsTheCall(t *testing.T) {
	begun, cut := make(chan struct{}), make(chan struct{})
	url := service(t, func(_ nethttp.ResponseWriter, r *nethttp.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(begun)
		<-r.Context().Done()
		close(cut)
	})
	d := newDriver(t, http.Config{})
	w := work(url)
	r, err := d.Start(context.Background(), w, &output{})
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	if again, err := d.Start(context.Background(), w, &output{}); err != nil || again != r {
		t.Errorf("a second start gave another call: %v", err)
	}
	if err := r.Stop(context.Background(), generous); err != nil {
		t.Fatal(err)
	}
	<-cut
	if exit := wait(t, r); exit.Code != 143 || exit.Reason != "stopped" {
		t.Errorf("exit %+v", exit)
	}
}

// A service that supports the request to stop ends by itself, with an answer of its own.
func TestStopAsksFirst(t *testing.T) {
	begun, asked := make(chan struct{}), make(chan struct{})
	url := service(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.Method == "DELETE" {
			if r.URL.RawQuery != "attempt=2&queue=a&task=t1" {
				t.Errorf("asked with %q", r.URL.RawQuery)
			}
			close(asked)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		close(begun)
		<-asked
		nethttp.Error(w, "stopped at frame 7", 499)
	})
	r, err := newDriver(t, http.Config{Delete: true}).Start(context.Background(), work(url+"?queue=a"), &output{})
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := r.Stop(context.Background(), generous); err != nil {
		t.Fatal(err)
	}
	if exit := wait(t, r); exit.Code != 499 {
		t.Errorf("exit %+v, want the service's own 499", exit)
	}
}

func TestDeadline(t *testing.T) {
	url := service(t, func(_ nethttp.ResponseWriter, r *nethttp.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	w := work(url)
	w.Deadline = time.Now().Add(50 * time.Millisecond)
	if exit, _ := run(t, newDriver(t, http.Config{}), w); exit.Code == 0 || !strings.Contains(exit.Reason, "time was over") {
		t.Errorf("exit %+v", exit)
	}
}
