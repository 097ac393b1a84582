package http_test

import (
	"context"
	"errors"
	"io"
	nethttp "net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/agent/driver/http"
	"github.com/weirhq/weir/internal/problem"
)

// No request is sent for any of these.
func TestRefusals(t *testing.T) {
	tests := map[string]struct {
		url   string
		kind  problem.Kind
		field string
	}{
		"none":                       {"", problem.Invalid, "url"},
		"no address":                 {"render", problem.Invalid, "url"},
		"a file":                     {"file:///etc/passwd", problem.Invalid, "url"},
		"another protocol":           {"gopher://127.0.0.1/", problem.Invalid, "url"},
		"a password":                 {"http://user:pw@127.0.0.1/", problem.Invalid, "url"},
		"control characters":         {"http://127.0.0.1/\r\nHost: x", problem.Invalid, "url"},
		"elsewhere":                  {"http://example.com/", problem.Forbidden, "url"},
		"the cloud's":                {"http://169.254.169.254/latest/meta-data", problem.Forbidden, "url"},
		"the cloud's in IPv6":        {"http://[fd00:ec2::254]/", problem.Forbidden, "url"},
		"the cloud's, mapped":        {"http://[::ffff:169.254.169.254]/", problem.Forbidden, "url"},
		"the office":                 {"http://10.0.0.1/", problem.Forbidden, "url"},
		"unspecified":                {"http://0.0.0.0:8080/", problem.Forbidden, "url"},
		"unspecified in IPv6":        {"http://[::]:8080/", problem.Forbidden, "url"},
		"a number":                   {"http://2130706433/", problem.Forbidden, "url"},
		"a short form":               {"http://127.1/", problem.Forbidden, "url"},
		"octal":                      {"http://0177.0.0.1/", problem.Forbidden, "url"},
		"a zone":                     {"http://[fe80::1%25lo]/", problem.Forbidden, "url"},
		"a name like ours":           {"http://localhost.example.com/", problem.Forbidden, "url"},
		"a name that leads to us":    {"http://127.0.0.1.nip.io/", problem.Forbidden, "url"},
		"ours as a user of another":  {"http://127.0.0.1@example.com/", problem.Invalid, "url"},
		"ours behind a backslash":    {`http://example.com\@127.0.0.1/`, problem.Invalid, "url"},
		"ours in a fragment":         {"http://example.com#@127.0.0.1/", problem.Forbidden, "url"},
		"letters that look like dot": {"http://127。0。0。2/", problem.Forbidden, "url"},
	}
	d := newDriver(t, http.Config{})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := d.Start(context.Background(), work(test.url), &output{})
			wantProblem(t, err, test.kind, test.field)
		})
	}
}

func TestRefusedRequests(t *testing.T) {
	d := newDriver(t, http.Config{})
	for name, change := range map[string]func(*driver.Work){
		"method":               func(w *driver.Work) { w.Run.Method = "TRACE" },
		"headers.Host":         func(w *driver.Work) { w.Run.Headers = map[string]string{"Host": "x"} },
		"headers.connection":   func(w *driver.Work) { w.Run.Headers = map[string]string{"connection": "x"} },
		"headers.X":            func(w *driver.Work) { w.Run.Headers = map[string]string{"X": "a\r\nb: c"} },
		"headers.X Y":          func(w *driver.Work) { w.Run.Headers = map[string]string{"X Y": "a"} },
		"headers.X-Unknown":    func(w *driver.Work) { w.Run.Headers = map[string]string{"X-Unknown": "${NOBODY}"} },
		"params":               func(w *driver.Work) { w.Params = []byte("{") },
		"headers.X-Two-Secret": func(w *driver.Work) { w.Run.Headers = map[string]string{"X-Two-Secret": "$TOKEN$NOBODY"} },
	} {
		t.Run(name, func(t *testing.T) {
			w := work("http://127.0.0.1:1/")
			change(&w)
			_, err := d.Start(context.Background(), w, &output{})
			p := wantProblem(t, err, problem.Invalid, name)
			if strings.Contains(p.What+p.Next, "s3cret") {
				t.Errorf("the error tells the secret: %s", p.What)
			}
		})
	}
}

func TestOperatorsList(t *testing.T) {
	address := service(t, func(w nethttp.ResponseWriter, _ *nethttp.Request) { _, _ = io.WriteString(w, "{}") })
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	name := "http://localhost:" + u.Port()
	tests := map[string]struct {
		allow []string
		url   string
		want  bool
	}{
		"this machine by default":    {nil, address, true},
		"by name":                    {nil, name, true},
		"in capitals":                {nil, "http://LOCALHOST:" + u.Port(), true},
		"the port":                   {[]string{"127.0.0.1:" + u.Port()}, address, true},
		"another port":               {[]string{"127.0.0.1:1"}, address, false},
		"the range":                  {[]string{"127.0.0.0/30"}, address, true},
		"another range":              {[]string{"10.0.0.0/8"}, address, false},
		"another name":               {[]string{"render.lan"}, name, false},
		"the name and its port":      {[]string{"localhost:" + u.Port()}, name, true},
		"the name and another port":  {[]string{"localhost:1"}, name, false},
		"address of an allowed name": {[]string{"localhost"}, address, false},
	}
	for title, test := range tests {
		t.Run(title, func(t *testing.T) {
			r, err := newDriver(t, http.Config{Allow: test.allow}).Start(context.Background(), work(test.url), &output{})
			if !test.want {
				wantProblem(t, err, problem.Forbidden, "url")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if exit := wait(t, r); exit.Code != 0 {
				t.Errorf("exit %+v", exit)
			}
		})
	}
}

func TestListThatIsNone(t *testing.T) {
	for _, entry := range []string{"", "http://x", "*", "a b", "10.0.0.0/99", "host:0", "host:99999", "user@host"} {
		if _, err := http.New(http.Config{Allow: []string{entry}}); err == nil {
			t.Errorf("%q was taken", entry)
		}
	}
}

// A redirect may lead to an address that was not checked.
func TestRedirectIsNotFollowed(t *testing.T) {
	elsewhere := service(t, func(nethttp.ResponseWriter, *nethttp.Request) { t.Error("the redirect was followed") })
	for _, status := range []int{301, 302, 303, 307, 308} {
		url := service(t, func(w nethttp.ResponseWriter, r *nethttp.Request) { nethttp.Redirect(w, r, elsewhere, status) })
		r, err := newDriver(t, http.Config{}).Start(context.Background(), work(url), &output{})
		if err != nil {
			t.Fatal(err)
		}
		exit, final := end(t, r)
		if exit.Code != status || !final || !strings.HasSuffix(exit.Reason, "redirects are not followed") {
			t.Errorf("exit %+v", exit)
		}
	}
}

func wantProblem(t *testing.T, err error, kind problem.Kind, field string) *problem.Problem {
	t.Helper()
	p := new(problem.Problem)
	if !errors.As(err, &p) || p.Kind != kind || p.Field != field {
		t.Fatalf("error %v, want a problem of kind %v about %s", err, kind, field)
	}
	return p
}
