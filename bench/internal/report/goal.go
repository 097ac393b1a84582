package report

import (
	"fmt"
	"math"
)

// Verdict is one goal with its result.
type Verdict struct {
	Scenario string `json:"scenario"`
	Goal     string `json:"goal"`
	Found    string `json:"found"`
	Result   string `json:"result"`
}

const (
	met         = "met"
	missed      = "MISSED"
	notMeasured = "not measured"
)

// goal is one promise. It holds when value is on the right side of bound.
type goal struct {
	// scenario is the table under which the goal is printed.
	scenario string
	text     string
	value    func(r *Report) float64
	show     func(value float64) string
	atLeast  bool
	bound    float64
	// A strict goal is missed at the bound itself.
	strict bool
}

// ratio divides one figure by another.
func ratio(a, b string) func(*Report) float64 {
	return func(r *Report) float64 { return r.Value(a) / r.Value(b) }
}

func figure(name string) func(*Report) float64 {
	return func(r *Report) float64 { return r.Value(name) }
}

// loss returns the share that is lost from one rate to another.
func loss(from, to string) func(*Report) float64 {
	return func(r *Report) float64 { return 1 - r.Value(to)/r.Value(from) }
}

func times(value float64) string { return Number(value, 2) + " ×" }

func unit(decimals int, name string) func(float64) string {
	return func(value float64) string { return Number(value, decimals) + " " + name }
}

// goals are the performance budget of the design, in its order.
var goals = []goal{
	{
		scenario: "queue2000", text: "jobs/s at 2,000 workers ≥ 3.0 × River",
		value: ratio("queue2000.weir.jobs_per_s", "queue2000.river.jobs_per_s"),
		show:  times, atLeast: true, bound: 3,
	},
	{
		scenario: "queue100", text: "jobs/s at 100 workers ≥ 3.0 × River",
		value: ratio("queue100.weir.jobs_per_s", "queue100.river.jobs_per_s"),
		show:  times, atLeast: true, bound: 3,
	},
	{
		scenario: "queue2000", text: "WAL per job ≤ 0.37 × River, timeline on",
		value: ratio("queue2000.weir.wal_per_job", "queue2000.river.wal_per_job"),
		show:  times, bound: 0.37,
	},
	{
		scenario: "held", text: "loss under a held snapshot ≤ 20 %",
		value: loss("queue100.weir.jobs_per_s", "held.weir.jobs_per_s"),
		show:  Percent, bound: 0.20,
	},
	{
		scenario: "latency", text: "pickup p50 below River's",
		value: ratio("latency.weir.p50_ms", "latency.river.p50_ms"),
		show:  times, bound: 1, strict: true,
	},
	{
		scenario: "latency", text: "pickup p99 below River's",
		value: ratio("latency.weir.p99_ms", "latency.river.p99_ms"),
		show:  times, bound: 1, strict: true,
	},
	{
		scenario: "history", text: "claim with a long history ≤ 1.2 × empty",
		value: ratio("history.weir.full_claim_us", "history.weir.empty_claim_us"),
		show:  times, bound: 1.2,
	},
	{
		scenario: "gates", text: "gates cost ≤ 20 %",
		value: loss("gates.weir.off_jobs_per_s", "gates.weir.on_jobs_per_s"),
		show:  Percent, bound: 0.20,
	},
	{
		scenario: "pass", text: "gate pass, 10,000 pending, nothing opens: 0 rows written",
		value: figure("pass.weir.rows_written"),
		show:  unit(0, "rows"), bound: 0,
	},
	{
		scenario: "pass", text: "gate pass, 10,000 pending, nothing opens ≤ 100 ms",
		value: figure("pass.weir.pass_ms"),
		show:  unit(1, "ms"), bound: 100,
	},
	{
		scenario: "pool", text: "gate pass behind a full pool not slowed by the backlog (≤ 100 ms)",
		value: figure("pool.weir.pass_ms"),
		show:  unit(1, "ms"), bound: 100,
	},
	{
		scenario: "idle", text: "100 idle workers < 5 queries/s beyond heartbeats",
		value: figure("idle.weir.queries_per_s"),
		show:  unit(2, "/s"), bound: 5, strict: true,
	},
	{
		scenario: "streams", text: "state change → client, 500 changes/s, 2,400 streams, p95 ≤ 500 ms",
		value: figure("streams.weir.p95_ms"),
		show:  unit(0, "ms"), bound: 500,
	},
	{
		scenario: "streams", text: "no event lost over forced reconnects",
		value: figure("streams.weir.lost"),
		show:  unit(0, "events"), bound: 0,
	},
	{
		scenario: "streams", text: "no event twice over forced reconnects",
		value: figure("streams.weir.duplicated"),
		show:  unit(0, "events"), bound: 0,
	},
	{
		scenario: "workflows", text: "40 steps in a row, function ≤ 5 ms a step",
		value: figure("workflows.weir.chain_each_ms"),
		show:  unit(2, "ms"), bound: 5,
	},
	{
		scenario: "workflows", text: "40 steps in a row, process each ≤ 15 ms a step",
		value: figure("workflows.weir.chain_process_each_ms"),
		show:  unit(2, "ms"), bound: 15,
	},
	{
		scenario: "workflows", text: "fan-out of 400 written steps on 10 workers ≤ 0.5 s",
		value: figure("workflows.weir.fan_needs_s"),
		show:  unit(2, "s"), bound: 0.5,
	},
	{
		scenario: "workflows", text: "fan-out of a map over 400 on 10 workers ≤ 0.5 s",
		value: figure("workflows.weir.fan_map_s"),
		show:  unit(2, "s"), bound: 0.5,
	},
	{
		scenario: "promote", text: "promote to the claim of the run ≤ 250 ms, p99",
		value: figure("promote.weir.claimed_p99_ms"),
		show:  unit(0, "ms"), bound: 250,
	},
	{
		scenario: "waiting", text: "10,000 pending runs, nothing opens: 0 rows written",
		value: figure("waiting.weir.rows_written"),
		show:  unit(0, "rows"), bound: 0,
	},
	{
		scenario: "turns", text: "fleet of 1,000 PCs, other work beside it: ≥ 500 claims/s, each after an end",
		value: figure("turns.weir.busy_claims_per_s"),
		show:  unit(0, "/s"), atLeast: true, bound: 500,
	},
	{
		scenario: "rest", text: "idle pass over a fleet of 1,000 PCs: 0 rows written",
		value: figure("rest.weir.pass_rows_written"),
		show:  unit(0, "rows"), bound: 0,
	},
	{
		scenario: "wake", text: "a workspace in standby on Docker, local image: first request → first 200, p95 ≤ 1 s",
		value: figure("wake.docker.p95_ms"),
		show:  unit(0, "ms"), bound: 1000,
	},
	{
		scenario: "wake", text: "the same on process",
		value: figure("wake.process.p95_ms"),
		show:  unit(0, "ms"), bound: 1000,
	},
	{
		scenario: "homes", text: "memory to archive, verify and restore is flat: the larger home takes ≤ 1.25 × the smaller",
		value: ratio("homes.large.peak_rss_mb", "homes.small.peak_rss_mb"),
		show:  times, bound: 1.25,
	},
	{
		scenario: "looks", text: "look at 10,000 workspaces, nothing changed: 0 rows written",
		value: figure("looks.weir.still_rows_written"),
		show:  unit(0, "rows"), bound: 0,
	},
	{
		scenario: "failover", text: "a leader killed with -9: no operation begun twice",
		value: figure("failover.killed.twice"),
		show:  unit(0, "operations"), bound: 0,
	},
	{
		scenario: "pages", text: "every question of a page ≤ 200 ms at 1 M jobs and 10 M tasks, p95",
		value: figure("pages.weir.worst_p95_ms"),
		show:  unit(0, "ms"), bound: 200,
	},
	{
		scenario: "served", text: "every page ≤ 200 ms of server time at 1 M jobs and 10 M tasks, p95",
		value: figure("served.weir.worst_p95_ms"),
		show:  unit(0, "ms"), bound: 200,
	},
}

// judge returns the verdict on every goal.
func judge(r *Report) []Verdict {
	verdicts := make([]Verdict, len(goals))
	for i, g := range goals {
		value := g.value(r)
		verdicts[i] = Verdict{Scenario: g.scenario, Goal: g.text, Found: g.show(value), Result: g.result(value)}
		if math.IsNaN(value) {
			verdicts[i].Found = missing
		}
	}
	return verdicts
}

func (g goal) result(value float64) string {
	switch {
	case math.IsNaN(value):
		return notMeasured
	case g.strict && value == g.bound:
		return missed
	case g.atLeast && value >= g.bound, !g.atLeast && value <= g.bound:
		return met
	default:
		return missed
	}
}

// Counts says how many goals were met, missed and not measured.
func (r *Report) Counts() string {
	var m, x, n int
	for _, v := range r.Goals {
		switch v.Result {
		case met:
			m++
		case missed:
			x++
		default:
			n++
		}
	}
	return fmt.Sprintf("%d met, %d missed, %d not measured", m, x, n)
}
