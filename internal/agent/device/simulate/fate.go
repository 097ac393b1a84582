package simulate

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/weirhq/weir/internal/problem"
)

// end is how an attempt ends if it is not stopped.
type end string

const (
	succeeds end = "succeeds"
	fails    end = "fails"
	breaks   end = "breaks" // its infrastructure fails
	hangs    end = "hangs"
)

// fate is the planned outcome of an attempt.
type fate struct {
	end end
	// after is how long the attempt takes; an attempt that hangs does so from then on.
	after time.Duration
}

// dice returns the random source for one question, so that the same question always has
// the same answer.
func (c Config) dice(question string, about ...any) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, question)
	for _, a := range about {
		fmt.Fprintf(h, "\x00%v", a)
	}
	return rand.New(rand.NewPCG(c.Seed, h.Sum64())) // #nosec G404 -- a game, and no secret
}

// bad reports whether every attempt on a device fails.
func (c Config) bad(serial string) bool { return c.dice("bad", serial).Float64() < c.Bad }

// fate returns the fate of the nth attempt on a device.
func (c Config) fate(serial string, n int) fate {
	dice := c.dice("fate", serial, n)
	f := fate{end: succeeds, after: c.Shortest}
	if span := c.Longest - c.Shortest; span > 0 {
		f.after += time.Duration(dice.Int64N(int64(span)))
	}
	switch roll := dice.Float64(); {
	case roll < c.Hang:
		f.end = hangs
	case roll < c.Hang+c.Infra:
		f.end = breaks
	case roll < c.Hang+c.Infra+c.Fail || c.bad(serial):
		f.end = fails
	}
	if f.end != succeeds {
		f.after = time.Duration(float64(f.after) * dice.Float64()) // an attempt that does not succeed ends early
	}
	return f
}

const (
	// flapPeriod is the period that the rates of flaps refer to.
	flapPeriod = time.Minute
	// awayLeast and awayMost bound how long a flap lasts.
	awayLeast, awayMost = 5 * time.Second, 90 * time.Second
)

// away reports whether a device or a hub is lost at that age of the lab.
func (c Config) away(what string, rate float64, age time.Duration) bool {
	if rate <= 0 {
		return false
	}
	last := int64(age / flapPeriod)
	for period := max(0, last-int64(awayMost/flapPeriod)-1); period <= last; period++ {
		dice := c.dice("flap", what, period)
		if dice.Float64() >= rate {
			continue
		}
		from := time.Duration(period)*flapPeriod + time.Duration(dice.Int64N(int64(flapPeriod)))
		until := from + awayLeast + time.Duration(dice.Int64N(int64(awayMost-awayLeast)))
		if age >= from && age < until {
			return true
		}
	}
	return false
}

// told are the settings that the parameters of a job may contain under "simulate".
type told struct {
	Seconds *float64 `json:"seconds"`
	Fail    *float64 `json:"fail"`
	Infra   *float64 `json:"infra"`
	Hang    *float64 `json:"hang"`
}

// forJob returns the configuration with the settings of a job applied, so that a job can
// fail on good devices.
func (c Config) forJob(params json.RawMessage) (Config, error) {
	var p struct {
		Simulate told `json:"simulate"`
	}
	if len(params) == 0 || params[0] != '{' {
		return c, nil
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return c, problem.Refuse("params.simulate", `give {"simulate": {"seconds": 2, "fail": 1}}`, "it cannot be read: %v", err)
	}
	for _, rate := range []struct{ told, to *float64 }{{p.Simulate.Fail, &c.Fail}, {p.Simulate.Infra, &c.Infra}, {p.Simulate.Hang, &c.Hang}} {
		if rate.told != nil {
			*rate.to = *rate.told
		}
	}
	if s := p.Simulate.Seconds; s != nil {
		if !(*s >= 0 && *s <= 86_400) {
			return c, problem.Refuse("params.simulate.seconds", "from 0 to 86400", "%v is no time for an attempt", *s)
		}
		c.Shortest = max(time.Duration(*s*float64(time.Second)), time.Millisecond)
		c.Longest = c.Shortest
	}
	return c, c.Check()
}
