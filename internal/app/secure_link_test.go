package app

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/testdb"
)

// linkOf is the code of the link that the server printed.
func (f *fort) linkOf() string {
	f.t.Helper()
	_, rest, found := strings.Cut(f.out.String(), "/setup?code=")
	if !found {
		f.t.Fatalf("the server printed no link:\n%s", f.out.String())
	}
	return strings.Fields(rest)[0]
}

// A one-time link works once. Looking at it, as programs that preview links do,
// does not use it; a second use, twenty at once or one too late log nobody in.
func TestSecureLinkOnce(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	servers := []*fort{besiegeOn(t, db), besiegeOn(t, db)}
	f := servers[0]
	first := servers[1].linkOf() // a newer set-up link takes the place of the older
	f.wants(http.StatusUnauthorized, "POST", "/setup", form("code", f.linkOf(), "name", "mallory", "password", goodPassword))
	for range 3 {
		for _, method := range []string{"GET", "HEAD"} {
			if got := f.wants(http.StatusOK, method, "/setup?code="+first+"&name=mallory&password="+url.QueryEscape(goodPassword)); len(got.Cookies()) > 0 {
				t.Errorf("%s logs in", method)
			}
		}
	}
	// The password is refused: the link is not used up.
	f.wants(http.StatusUnprocessableEntity, "POST", "/setup", form("code", first, "name", "ada", "password", "short"))
	won := race(servers, func(f *fort, i int) bool {
		return f.ask("POST", "/setup", form("code", first, "name", fmt.Sprintf("ada%d", i), "password", goodPassword)).StatusCode == http.StatusSeeOther
	})
	if n := f.text(`select count(*)::text from weir.users`); won != 1 || n != "1" {
		t.Errorf("%d of 20 logged in, and there are %s users", won, n)
	}
	f.wants(http.StatusUnauthorized, "POST", "/setup", form("code", first, "name", "eve", "password", goodPassword))
	f.wants(http.StatusUnauthorized, "GET", "/setup?code="+first)

	f.add("bob", auth.Viewer)
	link := func(ttl time.Duration) string {
		secret, err := f.people.NewLink(t.Context(), system, "bob", ttl)
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	second := link(time.Minute)
	for _, method := range []string{"GET", "HEAD"} {
		if got := f.wants(http.StatusOK, method, "/setup?code="+second); len(got.Cookies()) > 0 {
			t.Errorf("%s logs in", method)
		}
	}
	won = race(servers, func(f *fort, _ int) bool {
		return f.ask("POST", "/setup", form("code", second)).StatusCode == http.StatusSeeOther
	})
	if n := f.text(`select count(*)::text from weir.sessions where method = 'link' and user_id = (select id from weir.users where name = 'bob')`); won != 1 || n != "1" {
		t.Errorf("%d of 20 logged in, and there are %s sessions", won, n)
	}
	third := link(time.Minute)
	f.exec(`update weir.links set created_at = created_at - interval '1 h', expires_at = expires_at - interval '1 h'`)
	for _, code := range []string{third, second, "", "x", third[:len(third)-1], strings.Replace(third, "weir_link_", "weir_ses_", 1)} {
		f.wants(http.StatusUnauthorized, "GET", "/setup?code="+code)
		if got := f.wants(http.StatusUnauthorized, "POST", "/setup", form("code", code, "name", "eve", "password", goodPassword)); len(got.Cookies()) > 0 {
			t.Errorf("%q logs in", code)
		}
	}
}

// race does something twenty times at once, at all servers in turn, and counts
// how often it worked.
func race(servers []*fort, do func(f *fort, i int) bool) (won int) {
	var group sync.WaitGroup
	begin := make(chan struct{})
	results := make([]bool, 20)
	for i := range results {
		group.Go(func() {
			<-begin
			results[i] = do(servers[i%len(servers)], i)
		})
	}
	close(begin)
	group.Wait()
	for _, ok := range results {
		if ok {
			won++
		}
	}
	return won
}

// Two servers count together: an account is throttled after the same number of
// guesses, whichever server they go to, and the right password waits as well.
func TestSecureThrottle(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	servers := []*fort{besiegeOn(t, db), besiegeOn(t, db)}
	f := servers[0]
	f.add("ada", auth.Admin)
	// Each guess claims to be from elsewhere: nobody trusts that header here.
	guess := func(f *fort, i int, password string) reply {
		elsewhere := header("X-Forwarded-For", fmt.Sprintf("198.51.100.%d", i))
		if i%3 == 0 {
			return f.ask("POST", "/login", elsewhere, form("name", "ada", "password", password))
		}
		return f.ask("POST", apiPrefix+"/login", elsewhere, object("name", "ada", "password", password))
	}
	began := time.Now()
	looked := race(servers, func(f *fort, i int) bool {
		got := guess(f, i, fmt.Sprintf("guess number %d", i))
		if got.StatusCode == http.StatusTooManyRequests && got.Header.Get("Retry-After") == "" {
			t.Errorf("it is not said how long to wait: %v", got.Header)
		}
		return got.StatusCode == http.StatusUnauthorized
	})
	// Five are free; the sixth is looked at and brings the first wait, of a second. Each
	// wait that has passed before the last guess allows one more, and is twice as long.
	most := 6
	for wait, left := time.Second, time.Since(began); left >= wait; wait *= 2 {
		left, most = left-wait, most+1
	}
	if looked == 0 || looked > most {
		t.Errorf("%d of 20 guesses at two servers were looked at, and %d are allowed", looked, most)
	}
	f.exec(`update weir.login_attempts set until = clock_timestamp() + interval '1 min'`)
	for i, s := range servers {
		if got := guess(s, i, goodPassword); got.StatusCode != http.StatusTooManyRequests || len(got.Cookies()) > 0 {
			t.Errorf("server %d: status %d", i, got.StatusCode)
		}
	}
	f.exec(`update weir.login_attempts set until = clock_timestamp()`)
	f.login("ada")
}
