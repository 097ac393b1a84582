package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/testwait"
)

// output keeps what an attempt prints.
type output struct {
	mu  sync.Mutex
	out bytes.Buffer
	err bytes.Buffer
}

type stream struct {
	o *output
	b *bytes.Buffer
}

func (s stream) Write(p []byte) (int, error) {
	s.o.mu.Lock()
	defer s.o.mu.Unlock()
	return s.b.Write(p)
}

func (o *output) Stdout() io.Writer             { return stream{o, &o.out} }
func (o *output) Stderr() io.Writer             { return stream{o, &o.err} }
func (o *output) Taken() (stdout, stderr int64) { return 0, 0 }
func (o *output) Alive()                        {}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.out.String() + o.err.String()
}

func lab(t *testing.T, c Config) *Lab {
	t.Helper()
	if c.PC == "" {
		c.PC = "pc1"
	}
	if c.Devices == 0 {
		c.Devices = 10
	}
	if c.Longest == 0 {
		c.Longest = 20 * time.Millisecond
	}
	l, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

var count int

func work(serial, params string) driver.Work {
	count++
	return driver.Work{Task: fmt.Sprint("task", count), Attempt: 1, Fence: "f", Params: json.RawMessage(params), Device: &node.Device{Serial: serial}}
}

func start(t *testing.T, l *Lab, w driver.Work) (driver.Running, *output) {
	t.Helper()
	o := &output{}
	r, err := l.Start(t.Context(), w, o)
	if err != nil {
		t.Fatal(err)
	}
	return r, o
}

func TestAnAttemptSaysHowItGoesAndWhatItMade(t *testing.T) {
	l := lab(t, Config{Longest: 300 * time.Millisecond})
	r, o := start(t, l, work("SIM-pc1-0003", ""))
	e, err := r.Wait(t.Context())
	if err != nil || e.Code != 0 {
		t.Fatalf("got %+v, %v", e, err)
	}
	for _, want := range []string{"begins on SIM-pc1-0003 at sim:3\n", "::progress 33\n::progress 66\n::progress 100\n", `::result {"seconds":0.`, `"serial":"SIM-pc1-0003"}`} {
		if !strings.Contains(o.String(), want) {
			t.Errorf("no %q in\n%s", want, o)
		}
	}
	if s := l.Stats(); s != (Stats{Started: 1, Done: 1, Busiest: 1}) {
		t.Errorf("got %+v", s)
	}
}

// The parameters of a job can make it fail on good devices.
func TestEndsOfAttempts(t *testing.T) {
	l := lab(t, Config{})
	for params, want := range map[string]driver.Exit{
		`{"simulate": {"seconds": 0}}`:           {},
		`{"simulate": {"fail": 1}}`:              {Code: exitFail},
		`{"simulate": {"infra": 1}, "other": 1}`: {Code: exitBreak, Reason: "simulated trouble with the connection", Infra: true},
		`[1]`:                                    {},
	} {
		r, _ := start(t, l, work("SIM-pc1-0001", params))
		e, err := r.Wait(t.Context())
		if err != nil || e.Code != want.Code || e.Reason != want.Reason || e.Infra != want.Infra {
			t.Errorf("%s: %+v, %v", params, e, err)
		}
	}
	for params, want := range map[string]string{
		`{"simulate": {"fail": 2}}`:     "fail: 2 is no rate",
		`{"simulate": {"seconds": -1}}`: "params.simulate.seconds: -1 is no time for an attempt",
		`{"simulate": "x"}`:             "params.simulate: it cannot be read",
	} {
		if _, err := l.Start(t.Context(), work("SIM-pc1-0001", params), &output{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", params, err)
		}
	}
}

// A hanging attempt ignores a request to stop; a working attempt obeys it.
func TestStop(t *testing.T) {
	l := lab(t, Config{})
	r, o := start(t, l, work("SIM-pc1-0001", `{"simulate": {"hang": 1}}`))
	testwait.Until(t, "it hangs", func() bool { return strings.Contains(o.String(), "hangs") })
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := r.Stop(short, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it listened: %v", err)
	}
	if err := r.Stop(t.Context(), time.Millisecond); err != nil {
		t.Error(err)
	}
	if e, err := r.Wait(t.Context()); err != nil || e.Code != exitKilled || e.Signal != "killed" || e.Leashed {
		t.Errorf("got %+v, %v", e, err)
	}
	r, _ = start(t, l, work("SIM-pc1-0001", `{"simulate": {"seconds": 3600}}`))
	if err := r.Stop(t.Context(), time.Hour); err != nil {
		t.Error(err)
	}
	if e, err := r.Wait(t.Context()); err != nil || e.Code != exitAsked || e.Signal != "terminated" {
		t.Errorf("got %+v, %v", e, err)
	}
}

// The leash also ends a hanging attempt, and a later leash prolongs it.
func TestLeash(t *testing.T) {
	l := lab(t, Config{})
	w := work("SIM-pc1-0001", `{"simulate": {"hang": 1}}`)
	w.Leash = time.Now().Add(time.Hour)
	r, _ := start(t, l, w)
	if err := r.(driver.Leashed).Leash(time.Now()); err != nil {
		t.Fatal(err)
	}
	r.(*run).stir()
	if e, err := r.Wait(t.Context()); err != nil || !e.Leashed {
		t.Errorf("got %+v, %v", e, err)
	}
	w = work("SIM-pc1-0001", "")
	w.Leash = time.Now().Add(-time.Second)
	if _, err := l.Start(t.Context(), w, &output{}); !errors.Is(err, driver.ErrLate) {
		t.Errorf("too late: %v", err)
	}
}

func TestADeviceThatIsUnpluggedBreaksWhatRunsOnIt(t *testing.T) {
	l := lab(t, Config{})
	r, o := start(t, l, work("SIM-pc1-0002", `{"simulate": {"seconds": 3600}}`))
	l.Unplug("SIM-pc1-0002", "SIM-pc1-0003", "nothing")
	if e, err := r.Wait(t.Context()); err != nil || !e.Infra || !strings.Contains(o.String(), "device 'SIM-pc1-0002' not found") {
		t.Errorf("got %+v, %v\n%s", e, err, o)
	}
	expect := func(want int) {
		t.Helper()
		if got, err := l.List(t.Context()); err != nil || len(got.Devices) != want {
			t.Errorf("%d devices, %v", len(got.Devices), err)
		}
	}
	expect(8)
	l.Plug("SIM-pc1-0002", "SIM-pc1-0003")
	expect(10)
}

func TestTwoAttemptsNeverShareADevice(t *testing.T) {
	l := lab(t, Config{})
	w := work("SIM-pc1-0001", `{"simulate": {"seconds": 3600}}`)
	r, _ := start(t, l, w)
	if again, err := l.Start(t.Context(), w, &output{}); err != nil || again != r {
		t.Errorf("the same again: %v", err)
	}
	if _, err := l.Start(t.Context(), work("SIM-pc1-0001", ""), &output{}); problem.Explain(err).Kind != problem.Conflict {
		t.Errorf("another: %v", err)
	}
	if _, err := l.Start(t.Context(), work("SIM-pc2-0001", ""), &output{}); problem.Explain(err).Kind != problem.Conflict {
		t.Errorf("a device of another lab: %v", err)
	}
	if s := l.Stats(); s.Overlaps != 1 || s.Started != 1 {
		t.Errorf("got %+v", s)
	}
	w.Device = nil
	if _, err := l.Start(t.Context(), w, &output{}); problem.Explain(err).Kind != problem.Invalid {
		t.Errorf("no device: %v", err)
	}
}

// The seed determines the outcomes, and the rates are about those that were asked for.
func TestFateIsTheSeeds(t *testing.T) {
	c := Config{PC: "pc1", Devices: 30, Seed: 7, Fail: 0.2, Infra: 0.1, Hang: 0.05}.withDefaults()
	other := c
	other.Seed = 8
	ends, same := map[end]int{}, 0
	const all = 20_000
	for n := range all {
		f := c.fate("SIM-pc1-0001", n)
		if f != c.fate("SIM-pc1-0001", n) {
			t.Fatal("the same question, another answer")
		}
		if f == other.fate("SIM-pc1-0001", n) {
			same++
		}
		if f.after > c.Longest || f.end == succeeds && f.after < c.Shortest {
			t.Fatalf("got %+v", f)
		}
		ends[f.end]++
	}
	if same > all/100 {
		t.Errorf("another seed gives %d the same", same)
	}
	for end, share := range map[end]float64{fails: 0.2, breaks: 0.1, hangs: 0.05, succeeds: 0.65} {
		if got := float64(ends[end]) / all; got < share*0.85 || got > share*1.15 {
			t.Errorf("%v %s, not %v", got, end, share)
		}
	}
	c.Bad = 0.3
	bad := 0
	for i := range 1000 {
		serial := serialOf("pc1", i)
		if c.bad(serial) {
			bad++
			if f := c.fate(serial, 1); f.end == succeeds {
				t.Fatalf("a bad device made something of it: %+v", f)
			}
		}
	}
	if bad < 230 || bad > 370 {
		t.Errorf("%d of 1000 are bad", bad)
	}
}

// A device that flaps is away for a while and comes back.
func TestFlaps(t *testing.T) {
	c := Config{Seed: 3}
	changes, away := 0, 0
	was := false
	const minutes = 600
	for s := range minutes * 60 {
		is := c.away("a", 0.1, time.Duration(s)*time.Second)
		if is != was {
			changes++
		}
		if was = is; is {
			away++
		}
	}
	if flaps := changes / 2; flaps < minutes/20 || flaps > minutes/5 {
		t.Errorf("%d flaps in %d minutes", flaps, minutes)
	}
	if away < minutes || away > minutes*60/4 {
		t.Errorf("away for %d s of %d min", away, minutes)
	}
	for s := range 3600 {
		if c.away("a", 0, time.Duration(s)*time.Second) {
			t.Fatal("it flaps without a rate")
		}
	}
}

func TestFaultsOfAConfig(t *testing.T) {
	for want, c := range map[string]Config{
		"a lab hangs on a PC":          {Devices: 1},
		"cannot be part of serials":    {PC: "a b", Devices: 1},
		"0 is no number of devices":    {PC: "a"},
		"1001 is no number of devices": {PC: "a", Devices: 1001},
		"1.5 is no rate":               {PC: "a", Devices: 1, Flap: 1.5},
		"cannot end badly":             {PC: "a", Devices: 1, Fail: 0.6, Hang: 0.6},
		"attempts cannot take from 3s": {PC: "a", Devices: 1, Shortest: 3 * time.Second, Longest: time.Second},
		"-1ns":                         {PC: "a", Devices: 1, Shortest: -1},
	} {
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, not %s", c, err, want)
		}
	}
}

func TestCloseEndsWhatRuns(t *testing.T) {
	l := lab(t, Config{})
	r, _ := start(t, l, work("SIM-pc1-0001", `{"simulate": {"hang": 1}}`))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if e, err := r.Wait(t.Context()); err != nil || e.Code != exitKilled {
		t.Errorf("got %+v, %v", e, err)
	}
	if _, err := l.Start(t.Context(), work("SIM-pc1-0001", ""), &output{}); err == nil {
		t.Error("a closed lab began something")
	}
}
