package picture

import (
	"math"
	"time"

	"github.com/weirhq/weir/internal/locale"
)

// Flow is how many tasks ended in each stretch of time.
type Flow struct {
	Title    string
	Step     time.Duration // length of a stretch; 0: a minute
	From, To time.Time     // of the axis; zero: those of the points
	Points   []FlowPoint   // a stretch without a point is a gap: nobody counted
	Width    int           // 0: 560
	Height   int           // 0: 150
}

// FlowPoint is one stretch, by its start.
type FlowPoint struct {
	At           time.Time
	Done, Failed int
}

// Throughput draws a Flow as a stacked area.
func Throughput(lang *locale.Words, in Flow) SVG {
	c := newChart(in.Title, lang.Say("drawn.throughput"), in.Step, in.From, in.To, in.Width, in.Height)
	c.stacked = true
	c.layers = []layer{{name: lang.Say("is.done"), class: "pic-done"}, {name: lang.Say("is.failed"), class: "pic-failed"}}
	c.write = func(v float64) string { return short(v) }
	for _, p := range in.Points {
		c.add(p.At, float64(max(p.Done, 0)), float64(max(p.Failed, 0)))
	}
	done, failed := 0, 0
	for _, p := range in.Points {
		done, failed = done+p.Done, failed+p.Failed
	}
	c.layers[0].now, c.layers[1].now = count(done), count(failed)
	c.say = lang.Say("drawn.ended", count(done), count(failed))
	return c.draw(lang, lang.Say("drawn.nocount"))
}

// Delays is how long tasks waited or ran in each stretch of time.
type Delays struct {
	Title         string
	Step          time.Duration
	From, To      time.Time
	Points        []DelayPoint
	Width, Height int
}

// DelayPoint is one stretch, by its start. Times are in seconds; NaN: no sample.
type DelayPoint struct {
	At       time.Time
	P50, P95 float64
}

// Latency draws Delays as two lines, the median and the 95th percentile.
func Latency(lang *locale.Words, in Delays) SVG {
	c := newChart(in.Title, lang.Say("drawn.waittime"), in.Step, in.From, in.To, in.Width, in.Height)
	c.layers = []layer{{name: "p95", class: "pic-series-2", dashed: true}, {name: "p50", class: "pic-series-1"}}
	c.write = func(v float64) string { return seconds(lang, v) }
	c.nice = niceSeconds
	last := DelayPoint{P50: math.NaN()}
	for _, p := range in.Points {
		if math.IsNaN(p.P50) || math.IsNaN(p.P95) {
			continue
		}
		c.add(p.At, max(p.P95, 0), max(p.P50, 0))
		if !p.At.Before(last.At) {
			last = p
		}
	}
	if !math.IsNaN(last.P50) {
		c.layers[0].now, c.layers[1].now = seconds(lang, last.P95), seconds(lang, last.P50)
		c.say = lang.Say("drawn.delays", seconds(lang, last.P50), seconds(lang, last.P95))
	}
	return c.draw(lang, lang.Say("drawn.nosample"))
}

// niceSeconds is the top of an axis of seconds that reads well.
func niceSeconds(v float64) float64 {
	for _, s := range []float64{60, 120, 300, 600, 900, 1800, 3600, 7200, 3 * 3600, 6 * 3600, 12 * 3600, 86400} {
		if v > 30 && v <= s {
			return s
		}
	}
	if v > 86400 {
		return math.Ceil(v/86400) * 86400
	}
	return niceNumber(v)
}

// niceNumber is the next of 1, 2, 5, 10, 20, 50 … that is not below v.
func niceNumber(v float64) float64 {
	if v <= 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 1
	}
	base := math.Pow(10, math.Floor(math.Log10(v)))
	for _, k := range []float64{1, 2, 3, 4, 5, 6, 8} {
		if v <= k*base*(1+1e-9) {
			return k * base
		}
	}
	return 10 * base
}
