package auth

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/problem"
)

func TestCharge(t *testing.T) {
	for _, c := range []struct {
		name     string
		count    count
		failures int
		wait     time.Duration
	}{
		{"first", count{}, 1, 0},
		{"last free one", count{failures: 4}, 5, 0},
		{"first wait", count{failures: 5}, 6, time.Second},
		{"doubles", count{failures: 6}, 7, 2 * time.Second},
		{"doubles again", count{failures: 10}, 11, 32 * time.Second},
		{"at most", count{failures: 100}, 101, mostWait},
		{"never overflows", count{failures: 1 << 30}, 1<<30 + 1, mostWait},
		{"leaks", count{failures: 6, ago: 31 * time.Minute}, 5, 0},
		{"leaks to nothing", count{failures: 6, ago: 1000 * time.Hour}, 1, 0},
		{"a clock that went back", count{failures: 6, ago: -time.Hour}, 7, 2 * time.Second},
	} {
		if failures, wait := perAccount.charge(c.count); failures != c.failures || wait != c.wait {
			t.Errorf("%s: %d, %v", c.name, failures, wait)
		}
	}
}

func TestNetwork(t *testing.T) {
	for in, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "fe80::1%eth0": "fe80::/64", "": "", "pipe": "pipe",
	} {
		if got := network(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// try logs in from an address and returns the kind of the answer.
func (x *setup) try(name, password, address string) (problem.Kind, int) {
	x.t.Helper()
	_, _, err := x.Login(x.t.Context(), name, password, Client{Address: address})
	if err == nil {
		return -1, 0
	}
	seconds, _ := RetryAfter(err)
	return problem.Explain(err).Kind, seconds
}

// An address that guesses waits, twice as long each time, and no other does: the right
// password from another address is accepted at once, however long the guessing goes on.
func TestThrottleAccount(t *testing.T) {
	x := start(t)
	x.add("ada", Viewer)
	const guesser, owner = "198.51.100.1", "203.0.113.1"
	for i := range perAccount.free + 1 {
		if kind, _ := x.try("ada", "a wrong guess", guesser); kind != problem.Unauthenticated {
			t.Fatalf("attempt %d: %s", i, kind.Code())
		}
	}
	// Now even the right password has to wait there, and not longer than announced.
	kind, seconds := x.try("ada", good, guesser)
	if kind != problem.Throttled || seconds != 1 {
		t.Fatalf("got %d, retry after %d", kind, seconds)
	}
	was := 1
	for i := range 20 {
		x.pass(time.Duration(was) * time.Second)
		if kind, _ := x.try("ada", "a wrong guess", guesser); kind != problem.Unauthenticated {
			t.Fatalf("attempt %d after the wait: %s", i, kind.Code())
		}
		// Hammering does not lengthen the wait.
		for range 3 {
			if kind, seconds = x.try("ada", "a wrong guess", guesser); kind != problem.Throttled {
				t.Fatalf("attempt %d: not throttled", i)
			}
		}
		if seconds < was || seconds > int(mostWait.Seconds()) {
			t.Fatalf("the wait is %d after %d", seconds, was)
		}
		was = seconds
		if i%5 == 0 {
			if kind, _ := x.try("ada", good, owner); kind != -1 {
				t.Fatalf("after %d guesses of somebody else the user is kept out: %s", i, kind.Code())
			}
		}
	}
	if was != int(mostWait.Seconds()) {
		t.Errorf("the wait ends at %d s", was)
	}
	x.pass(mostWait)
	if kind, _ := x.try("ada", good, guesser); kind != -1 {
		t.Fatalf("after the longest wait: %s", kind.Code())
	}
	for i := range perAccount.free {
		if kind, _ := x.try("ada", "a wrong guess", guesser); kind != problem.Unauthenticated {
			t.Fatalf("after success, attempt %d: %s", i, kind.Code())
		}
	}
	if n := scan[int](x, `select count(*) from weir.events where type = 'login_throttled'`); n != 21 {
		t.Errorf("%d events tell of 21 waits: a flood of attempts must not be a flood of events", n)
	}
}

// Many addresses that guess one password together wait as long as all their failures
// require, and a login of the user from another address is accepted.
func TestThrottleTarget(t *testing.T) {
	x := start(t)
	x.add("ada", Viewer)
	address := func(i int) string { return fmt.Sprintf("198.51.100.%d", i) }
	for i := range 6 {
		for range perAccount.free {
			if kind, _ := x.try("ada", "a wrong guess", address(i)); kind != problem.Unauthenticated {
				t.Fatalf("address %d: %s", i, kind.Code())
			}
		}
	}
	// 30 failures are ten over the free ones. Alone, this address would not have to wait
	// yet.
	if kind, seconds := x.try("ada", "a wrong guess", address(0)); kind != problem.Throttled || seconds != 1<<9 {
		t.Errorf("the sixth guess of one address: kind %d, retry after %d", kind, seconds)
	}
	for i := range 3 {
		if kind, _ := x.try("ada", good, fmt.Sprintf("203.0.113.%d", i)); kind != -1 {
			t.Errorf("the user is kept out: %s", kind.Code())
		}
	}
	if kind, _ := x.try("ada", "a wrong guess", address(1)); kind != problem.Throttled {
		t.Error("the user's success freed those who guess")
	}
}

// An address that guesses many names waits too, also for unknown names.
func TestThrottleAddress(t *testing.T) {
	x := start(t)
	x.add("ada", Viewer)
	for i := range perAddress.free + 1 {
		if kind, _ := x.try("guess"+string(rune('a'+i)), "a wrong guess", "2001:db8::"+string(rune('1'+i%9))); kind != problem.Unauthenticated {
			t.Fatalf("attempt %d: %s", i, kind.Code())
		}
	}
	if kind, _ := x.try("ada", good, "2001:db8::99"); kind != problem.Throttled {
		t.Error("the neighbour address of one network is not throttled")
	}
	if kind, _ := x.try("ada", good, "2001:db8:0:1::1"); kind != -1 {
		t.Error("another network is throttled")
	}
	// A good login to one's own account does not clear the guesses.
	x.pass(time.Second)
	if kind, _ := x.try("ada", good, "2001:db8::1"); kind != -1 {
		t.Fatal("the address still waits")
	}
	if kind, _ := x.try("eve", "a wrong guess", "2001:db8::1"); kind != problem.Unauthenticated {
		t.Fatal("the address still waits")
	}
	if kind, _ := x.try("eve", "a wrong guess", "2001:db8::1"); kind != problem.Throttled {
		t.Error("one good login washed the guesses of the address")
	}
}

// A thousand guesses at once are charged one by one, on any server.
func TestThrottleAtOnce(t *testing.T) {
	x := start(t)
	x.add("ada", Viewer)
	second := New(x.db.Pool, Options{At: x.time})
	const many = 30
	kinds := make(chan problem.Kind, many)
	var wait sync.WaitGroup
	for i := range many {
		store := x.Store
		if i%2 == 1 {
			store = second
		}
		wait.Go(func() {
			_, _, err := store.Login(t.Context(), "ada", "a wrong guess", Client{Address: "203.0.113.1"})
			kinds <- problem.Explain(err).Kind
		})
	}
	wait.Wait()
	looked := 0
	for range many {
		if kind := <-kinds; kind == problem.Unauthenticated {
			looked++
		} else if kind != problem.Throttled {
			t.Errorf("got %s", kind.Code())
		}
	}
	if looked != perAccount.free+1 {
		t.Errorf("%d guesses were looked at, not %d", looked, perAccount.free+1)
	}
}

// An unknown name costs as much as a known one, and the answer is the same, so that no
// client can find out names.
func TestUnknownName(t *testing.T) {
	x := start(t)
	ctx := t.Context()
	x.add("ada", Viewer)
	x.add("off", Viewer)
	must(t, x.Disable(ctx, System("test"), "off"))
	_, err := x.CreateUser(ctx, System("test"), NewUser{Name: "linked", Role: Viewer})
	must(t, err)
	var says []string
	for _, c := range []struct{ name, password string }{{"ada", "a wrong guess"}, {"nobody", good}, {"off", good}, {"linked", good}, {"linked", ""}, {"no name at all \x00", good}, {"", ""}} {
		before := hashed.Load()
		_, _, err := x.Login(ctx, c.name, c.password, here)
		p := wants(t, err, problem.Unauthenticated)
		says = append(says, p.What+p.Next)
		if n := hashed.Load() - before; n != 1 {
			t.Errorf("%q: %d hashes were worked out", c.name, n)
		}
	}
	if len(slices.Compact(says)) != 1 {
		t.Errorf("the answers differ: %q", says)
	}
	if n := scan[int](x, `select count(*) from weir.events where type = 'login_failed' and source = 'nobody' and level = 'warn'`); n != 7 {
		t.Errorf("%d of 7 failures are in the timeline", n)
	}
}

// An old hash is replaced when its user logs in.
func TestRehash(t *testing.T) {
	x := start(t)
	x.add("ada", Viewer)
	was := today
	today = cost{memory: 20 * 1024, time: 2, threads: 1}
	t.Cleanup(func() { today = was })
	x.login("ada", good)
	if hash := scan[string](x, `select password from weir.users`); hash[:30] != "$argon2id$v=19$m=20480,t=2,p=1" {
		t.Errorf("the hash stayed %s", hash[:30])
	}
	x.login("ada", good)
}

func TestSweep(t *testing.T) {
	x := start(t)
	ctx := t.Context()
	ada := x.add("ada", Admin)
	sweep := func() int {
		_, err := x.Sweep(ctx, time.Time{})
		must(t, err)
		return scan[int](x, `select (select count(*) from weir.sessions) + (select count(*) from weir.tokens) + (select count(*) from weir.links)
			+ (select count(*) from weir.joins) + (select count(*) from weir.oidc_visits) + (select count(*) from weir.login_attempts)`)
	}
	x.try("nobody", "a wrong guess", "203.0.113.1")
	x.login("ada", good)
	_, _, err := x.CreateToken(ctx, ada, NewToken{Name: "ci", Scopes: []string{"*:*"}})
	must(t, err)
	_, err = x.NewLink(ctx, ada, "ada", 0)
	must(t, err)
	_, err = x.CreateJoin(ctx, ada, NewJoin{Any: true})
	must(t, err)
	if n := sweep(); n != 8 {
		t.Errorf("of 8 live rows %d are left", n)
	}
	x.pass(sessionLife)
	if n := sweep(); n != 1 {
		t.Errorf("%d rows are left beside the token", n-1)
	}
	x.pass(tokenTTL + keptTokens)
	if n := sweep(); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}
