package httpapi

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/auth"
)

// hooked is an API with a webhook that runs a workflow.
type hooked struct {
	*rig
	mia    *as
	secret string
}

func newHooked(t *testing.T) *hooked {
	t.Helper()
	h := &hooked{rig: newRig(t)}
	h.user("mia", auth.Maintainer)
	h.mia = h.login("mia")
	h.mia.want(http.StatusCreated, "PUT", "/workflows", map[string]any{"source": "name: build\nparams: {ref: {type: string, required: true}, event: {type: string}}\nsteps: [{key: x, service: s}]"})
	made := h.mia.want(http.StatusCreated, "PUT", "/triggers/push", map[string]any{
		"workflow": "build", "webhook": true, "when": `(headers["x-github-event"] ?? "push") == "push"`,
		"params": map[string]any{"ref": "{{ .body.ref }}", "event": `{{ index .headers "x-github-event" | default "none" }}`},
	})
	h.secret = field(t, made.body, "secret")
	return h
}

func field(t *testing.T, body []byte, name string) string {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(body, &fields); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	text, _ := fields[name].(string)
	return text
}

// mac is the HMAC of a text, in hex.
func mac(secret, text string) string {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte(text))
	return hex.EncodeToString(m.Sum(nil))
}

// timed is the header of a body that was signed some time ago.
func timed(secret, body string, ago time.Duration) string {
	at := fmt.Sprint(time.Now().Add(-ago).Unix())
	return "t=" + at + ",v1=" + mac(secret, at+"."+body)
}

// deliver posts a body with headers, in pairs, and returns the status and the answer.
func (h *hooked) deliver(trigger, body string, headers ...string) (int, []byte) {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, h.url+"/api/v1/hooks/"+trigger, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := h.anybody().http.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return answer.StatusCode, text
}

func (h *hooked) runs() (n int) {
	h.t.Helper()
	if err := h.db.Pool.QueryRow(h.t.Context(), `select count(*) from weir.jobs where name = 'build'`).Scan(&n); err != nil {
		h.t.Fatal(err)
	}
	return n
}

const pushed = `{"ref": "refs/heads/main"}`

// A delivery that is signed in one of three forms starts a run with params of its body and
// headers. The same delivery again starts no other one.
func TestASignedDeliveryStartsOneRun(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	for i, headers := range [][]string{
		{"X-Weir-Signature", timed(h.secret, pushed, time.Minute)},
		{"X-Hub-Signature-256", "sha256=" + mac(h.secret, pushed), "X-GitHub-Delivery", "d-1", "X-GitHub-Event", "push"},
		{"X-Gitlab-Token", h.secret, "Idempotency-Key", "d-2"},
	} {
		status, first := h.deliver("push", pushed, headers...)
		again, second := h.deliver("push", pushed, headers...)
		job := field(t, first, "job")
		if status != 200 || again != 200 || job == "" || field(t, second, "job") != job || !strings.Contains(string(second), `"again":true`) || h.runs() != i+1 {
			t.Errorf("%v: %d %s, again %d %s, %d runs", headers[0], status, first, again, second, h.runs())
		}
	}
	var params string
	if err := h.db.Pool.QueryRow(t.Context(), `select string_agg(params ->> 'ref' || ' ' || (params ->> 'event'), ', ' order by order_seq) from weir.jobs`).Scan(&params); err != nil {
		t.Fatal(err)
	}
	if params != "refs/heads/main none, refs/heads/main push, refs/heads/main none" {
		t.Errorf("the runs have the params %s", params)
	}
	// What it starts nothing for is said to the sender, and kept.
	status, said := h.deliver("push", `{"zen": 1}`, "X-Hub-Signature-256", "sha256="+mac(h.secret, `{"zen": 1}`), "X-GitHub-Event", "ping", "X-GitHub-Delivery", "d-3")
	if status != 200 || field(t, said, "state") != "ignored" || !strings.Contains(field(t, said, "reason"), "the condition is false") {
		t.Errorf("a ping: %d %s", status, said)
	}
	if status, said = h.deliver("push", `{}`, "X-Gitlab-Token", h.secret, "Idempotency-Key", "d-4"); status != 422 || !strings.Contains(string(said), "params.ref") {
		t.Errorf("a body that does not fit: %d %s", status, said)
	}
	list := string(h.mia.want(200, "GET", "/triggers/push/firings", nil).body)
	for _, want := range []string{`"d-1"`, `"d-3"`, `"d-4"`, "trigger_condition", "trigger_failed"} {
		if !strings.Contains(list, want) {
			t.Errorf("the firings lack %s: %s", want, list)
		}
	}
	if strings.Contains(list+h.log.String(), h.secret) {
		t.Error("the secret is shown again")
	}
	h.mia.want(204, "POST", "/triggers/push/pause", nil)
	if status, said = h.deliver("push", pushed, "X-Gitlab-Token", h.secret, "Idempotency-Key", "d-5"); status != 200 || !strings.Contains(string(said), "trigger_paused") {
		t.Errorf("while it is paused: %d %s", status, said)
	}
	if got := h.runs(); got != 3 {
		t.Errorf("%d runs", got)
	}
}

// A wrong signature, an old one, none, and a trigger that does not exist have one answer,
// and too many of them have to wait. Deliveries that are signed do not.
func TestAnUnsignedDeliveryIsRefused(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	var answers []string
	for _, x := range []struct {
		trigger string
		headers []string
	}{
		{"push", nil},
		{"push", []string{"X-Hub-Signature-256", "sha256=" + mac("another", pushed)}},
		{"push", []string{"X-Hub-Signature-256", "sha256=" + mac(h.secret, pushed+" ")}},
		{"push", []string{"X-Hub-Signature-256", mac(h.secret, pushed)}},
		{"push", []string{"X-Gitlab-Token", h.secret + "x"}},
		{"push", []string{"X-Weir-Signature", timed(h.secret, pushed, 6*time.Minute)}},
		{"push", []string{"X-Weir-Signature", timed(h.secret, pushed, -6*time.Minute)}},
		// The form with a time is the one that counts.
		{"push", []string{"X-Weir-Signature", "t=1,v1=00", "X-Gitlab-Token", h.secret}},
		{"nowhere", []string{"X-Gitlab-Token", h.secret}},
	} {
		status, said := h.deliver(x.trigger, pushed, x.headers...)
		var p Refusal
		if err := json.Unmarshal(said, &p); err != nil || status != 401 {
			t.Errorf("%v: %d %s", x, status, said)
		}
		answers = append(answers, p.Code+p.Detail+p.Next)
	}
	for _, a := range answers {
		if a != answers[0] {
			t.Errorf("%s and %s differ", a, answers[0])
		}
	}
	if got := h.runs(); got != 0 {
		t.Errorf("%d runs", got)
	}
	list := string(h.mia.want(200, "GET", "/triggers/push/firings", nil).body)
	if strings.Count(list, "delivery_unsigned") != 1 || !strings.Contains(list, `"times":8`) {
		t.Errorf("the firings say %s", list)
	}
	status := 0
	for range 30 {
		if status, _ = h.deliver("push", pushed); status != 401 {
			break
		}
	}
	if status != 429 {
		t.Errorf("the last answer is %d", status)
	}
	if status, said := h.deliver("push", pushed, "X-Gitlab-Token", h.secret); status != 200 {
		t.Errorf("a signed delivery after that: %d %s", status, said)
	}
	if status, _ := h.deliver("push", `{"x": "`+strings.Repeat("x", bodyLimit)+`"}`, "X-Gitlab-Token", h.secret); status != 413 {
		t.Errorf("a large body: %d", status)
	}
}

// After a rotation both secrets are good for a while, then the new one alone. A third one
// ends the first.
func TestASecretIsRotatedWithAnOverlap(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	second := field(t, h.mia.want(200, "POST", "/triggers/push/rotate", map[string]any{"overlap": "1h"}).body, "secret")
	good := func(secret string) bool {
		status, _ := h.deliver("push", pushed, "X-Gitlab-Token", secret)
		return status == 200
	}
	if second == h.secret || !good(h.secret) || !good(second) {
		t.Error("both secrets are to be accepted")
	}
	h.exec(`update weir.triggers set before_until = now() - interval '1 s'`)
	if good(h.secret) || !good(second) {
		t.Error("only the new secret is to be accepted")
	}
	third := field(t, h.mia.want(200, "POST", "/triggers/push/rotate", nil).body, "secret")
	if good(h.secret) || !good(second) || !good(third) {
		t.Error("only the last two are to be accepted")
	}
	secrets := func() (n int) {
		if err := h.db.Pool.QueryRow(t.Context(), `select count(*) from weir.secrets where name like 'webhook%'`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if got := secrets(); got != 2 {
		t.Errorf("%d secrets are kept", got)
	}
	h.mia.want(204, "DELETE", "/triggers/push", nil)
	if got := secrets(); got != 0 || good(third) {
		t.Errorf("%d secrets are left", got)
	}
}

// The example of the documentation works.
func TestTheExampleOfAWebhookRuns(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"curl", "openssl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	text, err := os.ReadFile("../../docs/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "```sh\nbody=")
	script, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("docs/workflows.md has no example of a delivery")
	}
	h := newHooked(t)
	c := exec.CommandContext(t.Context(), "sh", "-euc", "body="+script) // #nosec G204 -- our own documentation
	c.Env = append(os.Environ(), "SERVER="+h.url, "SECRET="+h.secret)
	out, err := c.CombinedOutput()
	if err != nil || field(t, out, "state") != "started" || h.runs() != 1 {
		t.Errorf("%v: %s", err, out)
	}
}
