package app

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/testwait"
)

// follow opens a stream and returns what it sends, line by line, until the
// server ends it. The test must read it to the end or cancel.
func (f *fort) follow(ctx context.Context, path string, ways ...way) (status int, lines <-chan string) {
	f.t.Helper()
	r, err := http.NewRequestWithContext(ctx, "GET", "http://"+f.listen+path, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	for _, w := range ways {
		w(r)
	}
	response, err := f.client.Do(r)
	for try := 0; err == nil && response.StatusCode == http.StatusServiceUnavailable && try < 3; try++ { // see ask
		response.Body.Close()
		response, err = f.client.Do(r)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	out := make(chan string)
	go func() {
		defer close(out)
		defer response.Body.Close()
		scan := bufio.NewScanner(response.Body)
		scan.Buffer(nil, 4<<20)
		for scan.Scan() {
			select {
			case out <- scan.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return response.StatusCode, out
}

// until reads a stream until a line says it, and returns all that came.
func until(t *testing.T, lines <-chan string, text string) string {
	t.Helper()
	var all strings.Builder
	for late := time.After(time.Minute); ; {
		select {
		case line, ok := <-lines:
			if !ok {
				t.Errorf("the stream ended before %q:\n%s", text, all.String())
				return all.String()
			}
			all.WriteString(line + "\n")
			if strings.Contains(line, text) {
				return all.String()
			}
		case <-late:
			t.Errorf("%q never came:\n%s", text, all.String())
			return all.String()
		}
	}
}

// tail is where the timeline ends.
func (f *fort) tail(who way) string {
	f.t.Helper()
	var t struct{ Cursor string }
	if err := json.Unmarshal([]byte(f.wants(http.StatusOK, "GET", apiPrefix+"/timeline/tail", who).body), &t); err != nil {
		f.t.Fatal(err)
	}
	return t.Cursor
}

// Who may not read events gets no stream, and learns nothing from the refusal.
func TestSecureStreamRefuses(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	f.add("ada", auth.Viewer)
	cookie := f.login("ada")
	narrow, _ := f.token("ada", "task:read")
	gone, token := f.token("ada", "*:read")
	if err := f.people.RevokeToken(t.Context(), system, token.ID); err != nil {
		t.Fatal(err)
	}
	wrong := misspelt(gone)
	cases := map[string]struct {
		status int
		who    []way
	}{
		"nobody":                           {401, nil},
		"wrong token":                      {401, []way{bearer(wrong)}},
		"revoked token":                    {401, []way{bearer(gone)}},
		"wrong token beside a good cookie": {401, []way{bearer(wrong), with(cookie)}},
		"no scope":                         {403, []way{bearer(narrow)}},
		"a node":                           {403, []way{bearer(f.node("n1"))}},
		"a password":                       {401, []way{header("Authorization", "Basic YWRhOmFkYQ==")}},
	}
	for name, c := range cases {
		for _, path := range []string{apiPrefix + "/events", apiPrefix + "/events?kind=auth", apiPrefix + "/events?after=1.1"} {
			got := f.ask("GET", path, append(c.who, header("Accept", "text/event-stream"), header("Last-Event-ID", "1.1"))...)
			if got.StatusCode != c.status || strings.Contains(got.Header.Get("Content-Type"), "event-stream") || strings.Contains(got.body, "id: ") {
				t.Errorf("%s: %s: status %d: %.200s", name, path, got.StatusCode, got.body)
			}
		}
		// The dashboard's stream says no more than that the page is gone.
		for _, path := range []string{"/users", "/timeline", "/settings", "/login", "/nothing"} {
			got := f.ask("GET", "/live?path="+url.QueryEscape(path), append(c.who, header("Accept", "text/event-stream"))...)
			if strings.Contains(got.body, "fragment") {
				t.Errorf("%s: /live of %s: status %d: %.300s", name, path, got.StatusCode, got.body)
			}
		}
	}
}

// auditEvents makes rows of the audit that carry a word, and after them one that
// everybody may see.
func (f *fort) auditEvents(word, end string) {
	f.t.Helper()
	f.add(word, auth.Viewer)
	if err := f.people.Audit(f.t.Context(), system, word, "message "+word, map[string]any{"data": word}); err != nil {
		f.t.Fatal(err)
	}
	f.exec(`select weir.set_pool($1, size => 1)`, end)
}

// The audit never reaches those who are no admins: not live, not by resuming
// before it, not by asking for its kind, not by any list, page or live page.
func TestSecureStreamAudit(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	admin := with(f.person(auth.Admin))
	before := f.tail(admin)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const word = "canary-in-the-audit"
	for i, role := range []auth.Role{auth.Viewer, auth.Operator, auth.Maintainer} {
		who := with(f.person(role))
		secret, _ := f.token("the-"+string(role), "*:*")
		end := fmt.Sprintf("end-%d", i)
		_, live := f.follow(ctx, apiPrefix+"/events", who)
		until(t, live, "id: ")
		_, folded := f.follow(ctx, apiPrefix+"/events?fold=state", bearer(secret))
		until(t, folded, "id: ")
		name := fmt.Sprintf("%s-%d", word, i)
		f.auditEvents(name, end)
		// Only after the rows of the audit comes the end, so that they had their chance.
		for how, text := range map[string]string{"live": until(t, live, end), "folded": until(t, folded, end)} {
			if strings.Contains(text, word) || strings.Contains(text, `"kind":"auth"`) {
				t.Errorf("%s: %s: %s", role, how, text)
			}
		}
		for _, path := range []string{"?after=" + url.QueryEscape(before), "?after=" + url.QueryEscape(before) + "&kind=auth&kind=pool", "?after=0.0&kind=auth&kind=pool&fold=state"} {
			for _, last := range []string{"", before} {
				_, again := f.follow(ctx, apiPrefix+"/events"+path, bearer(secret), header("Last-Event-ID", last))
				if text := until(t, again, end); strings.Contains(text, word) || strings.Contains(text, `"kind":"auth"`) {
					t.Errorf("%s: resumed by %s: %s", role, path, text)
				}
			}
		}
		for _, path := range []string{
			apiPrefix + "/timeline", apiPrefix + "/timeline?kind=auth", apiPrefix + "/timeline?type=" + name, apiPrefix + "/timeline?subject=" + name, apiPrefix + "/timeline?after=" + url.QueryEscape(before),
			apiPrefix + "/search?q=" + word, apiPrefix + "/overview", "/", "/timeline", "/timeline?kind=auth", "/timeline?type=" + name, "/timeline?subject=" + name, "/search?q=" + word, "/health",
		} {
			// The pages repeat what was typed; the rest of the word is the audit's.
			if got := f.ask("GET", path, who); strings.Contains(got.body, "message "+word) || strings.Contains(got.body, `"kind":"auth"`) {
				t.Errorf("%s: %s: %.500s", role, path, got.body)
			}
		}
		for _, path := range []string{"/timeline", "/timeline?kind=auth", "/timeline?kind=pool"} {
			f.noAuditLive(string(role)+" "+path, path, who, word, fmt.Sprintf("later-%d-%x", i, path))
		}
	}
	// An admin sees it, so there was something to see.
	_, seen := f.follow(ctx, apiPrefix+"/events?kind=auth&after="+url.QueryEscape(before), admin)
	until(t, seen, word+"-2")
	if got := f.wants(http.StatusOK, "GET", "/timeline?kind=auth", admin); !strings.Contains(got.body, "message "+word) {
		t.Error("an admin does not see the audit")
	}
}

// noAuditLive follows a page while the audit grows.
func (f *fort) noAuditLive(name, path string, who way, word, end string) {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.t.Context())
	defer cancel()
	_, lines := f.follow(ctx, "/live?path="+url.QueryEscape(path), who)
	first, open := <-lines
	if !open {
		return
	}
	text := first
	if err := f.people.Audit(ctx, system, "live", "message "+word, nil); err != nil {
		f.t.Fatal(err)
	}
	f.exec(`select weir.set_pool($1, size => 1)`, end)
	for line := range lines {
		text += line
		if strings.Contains(line, end) || strings.Contains(line, "event: gone") {
			break
		}
	}
	if strings.Contains(text, "message "+word) {
		f.t.Errorf("%s: %.500s", name, text)
	}
}

// A cursor is a place and no right. One that somebody else got, or that nobody
// did, is refused or shows what its reader may see anyhow.
func TestSecureStreamCursor(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	admin, viewer := with(f.person(auth.Admin)), with(f.person(auth.Viewer))
	foreign := f.tail(admin)
	const word = "canary-in-the-audit"
	f.auditEvents(word, "end")
	for _, cursor := range []string{
		foreign, "0.0", "0.0+0", "1.1", "-1.-1", "99999999999999999999.1", "1", "x", "'; drop table weir.events; --", "1.1 or 1=1", "1.1\x001", strings.Repeat("9", 5000), "1.9223372036854775807", "9223372036854775807.9223372036854775807",
		"18446744073709551615.1", "4294967296.1", "0x10.1", "1e9.1", "1.1+99999999999", "١.١", "1.1;2", "../..", "null", "<b>", "1.1+-1",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		for _, how := range []struct {
			path string
			ways []way
		}{
			{apiPrefix + "/events?after=" + url.QueryEscape(cursor), nil},
			{apiPrefix + "/events", []way{func(r *http.Request) { r.Header["Last-Event-Id"] = []string{strings.Map(fieldByte, cursor)} }}},
		} {
			status, lines := f.follow(ctx, how.path, append(how.ways, viewer)...)
			if status >= 500 {
				t.Errorf("%.40q: status %d", cursor, status)
			}
			if status != http.StatusOK {
				continue
			}
			if first := <-lines; !strings.HasPrefix(first, "retry: ") {
				t.Errorf("%.40q: the stream begins with %q", cursor, first)
			}
		}
		cancel()
		if got := f.ask("GET", apiPrefix+"/timeline?after="+url.QueryEscape(cursor), viewer); got.StatusCode >= 500 || strings.Contains(got.body, word) {
			t.Errorf("%.40q: status %d: %.300s", cursor, got.StatusCode, got.body)
		}
		if got := f.ask("GET", "/timeline?before="+url.QueryEscape(cursor), viewer); got.StatusCode >= 500 || strings.Contains(got.body, "message "+word) {
			t.Errorf("%.40q: status %d", cursor, got.StatusCode)
		}
	}
}

// fieldByte keeps what a header may hold.
func fieldByte(r rune) rune {
	if r < ' ' || r == 0x7f {
		return -1
	}
	return r
}

// A token that is revoked, a session that is ended and a user who is disabled
// lose the streams they have, within the minute that is promised.
func TestSecureStreamRevoked(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes up to a minute")
	}
	f := besiege(t)
	for _, name := range []string{"ada", "bob", "eve"} {
		f.add(name, auth.Viewer)
	}
	secret, token := f.token("ada", "*:read")
	bob, eve := f.login("bob"), f.login("eve")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	streams := map[string]<-chan string{}
	for name, s := range map[string]struct {
		path string
		who  way
	}{
		"revoked token": {apiPrefix + "/events", bearer(secret)}, "ended session": {apiPrefix + "/events", with(bob)}, "disabled user": {apiPrefix + "/events", with(eve)},
		"page of an ended session": {"/live?path=/timeline", with(bob)}, "page of a disabled user": {"/live?path=/timeline", with(eve)},
	} {
		_, streams[name] = f.follow(ctx, s.path, s.who)
		<-streams[name]
	}
	if err := f.people.RevokeToken(ctx, system, token.ID); err != nil {
		t.Fatal(err)
	}
	f.wants(http.StatusNoContent, "POST", apiPrefix+"/logout", with(bob))
	if err := f.people.Disable(ctx, system, "eve"); err != nil {
		t.Fatal(err)
	}
	for name, lines := range streams {
		for late := time.After(2 * time.Minute); ; {
			select {
			case _, open := <-lines:
				if open {
					continue
				}
			case <-late:
				t.Errorf("the stream of the %s does not end", name)
			}
			break
		}
	}
}

// One person cannot take all the streams there are, by either face; those of
// others go on, and a stream that ends makes room.
func TestSecureStreamSeats(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	f.add("ada", auth.Viewer)
	f.add("bob", auth.Viewer)
	ada, bob := f.login("ada"), f.login("bob")
	for _, path := range []string{"/live?path=/timeline", apiPrefix + "/events"} {
		ctx, cancel := context.WithCancel(t.Context())
		full := 0
		for range 150 {
			switch status, _ := f.follow(ctx, path, with(ada)); status {
			case http.StatusOK:
			case http.StatusTooManyRequests:
				full++
			default:
				t.Fatalf("%s: status %d", path, status)
			}
		}
		if full == 0 {
			t.Errorf("%s: one person has 150 streams", path)
		}
		if status, _ := f.follow(ctx, path, with(bob)); status != http.StatusOK {
			t.Errorf("%s: another person: status %d", path, status)
		}
		cancel()
		testwait.Until(t, "there is room again", func() bool {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			status, _ := f.follow(ctx, path, with(ada))
			return status == http.StatusOK
		})
	}
}
