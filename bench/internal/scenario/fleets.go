package scenario

import (
	"context"
	"fmt"
	"time"

	"github.com/weirhq/weir/bench/internal/fleets"
	"github.com/weirhq/weir/bench/internal/meter"
	"github.com/weirhq/weir/bench/internal/report"
	"github.com/weirhq/weir/bench/internal/stats"
)

const (
	fleetsDatabase = "weir_bench_fleets"
	// fleetPCs is scaled; the goal fixes the devices and slots of a PC.
	fleetPCs, fleetDevices, fleetSlots = 1_000, 30, 20
	// fleetConnections is the pool size of a server on two cores.
	fleetConnections = 8
	// fleetBusy is how many PCs make a call at once, at full speed.
	fleetBusy = 64
	fleetFor  = 20 * time.Second
	// fleetPace is how many runs end per second when the time to the next start is
	// measured: 20,000 slots with runs of 200 s.
	fleetPace = 100
	// fleetPlain is how many tasks per second a plain queue does besides the fleet.
	fleetPlain = 1_000
)

// Turned are PCs at work under one load.
type Turned struct {
	Scenario string    `json:"scenario"`
	Load     string    `json:"load"`
	Rate     float64   `json:"claims_per_s"`
	Next     []float64 `json:"next_ms"`
	Plain    float64   `json:"plain_per_s"`
	Calls    float64   `json:"calls_per_s"`
}

// fleet measures a large lab: how fast it fills, how fast a freed slot runs again, how
// many claims per second it sustains, and what it costs at rest.
func fleet(ctx context.Context, b *Bench, _ time.Duration) error {
	size := fleets.Size{PCs: max(int(fleetPCs*min(b.Scale, 1)), 50), Devices: fleetDevices, Slots: fleetSlots, Connections: fleetConnections, Busy: fleetBusy}
	length := max(time.Duration(float64(fleetFor)*min(b.Scale, 1)), time.Second)
	if err := b.Server.CreateDatabase(ctx, fleetsDatabase); err != nil {
		return err
	}
	lab, err := fleets.Open(ctx, b.Server.URL(fleetsDatabase), size)
	if err != nil {
		return err
	}
	defer lab.Close()
	filled, err := lab.Fill(ctx)
	if err != nil {
		return err
	}
	running := size.PCs * min(size.Slots, size.Devices)
	b.Report.Figure("fleets.weir.fill_s", filled.Seconds())
	b.Report.Figure("fleets.weir.fill_per_s", float64(running)/filled.Seconds())
	title := fmt.Sprintf("%s PCs with %d slots and %d devices each, %d connections", count(size.PCs), size.Slots, size.Devices, size.Connections)
	b.Report.Show(b.Out, report.Section{
		Scenario: "fleets", Title: title + ": all slots are filled", Header: []string{"system", "running", "fill s", "claims/s"},
		Rows: [][]string{{"weir", count(running), report.Number(filled.Seconds(), 1), report.Number(float64(running)/filled.Seconds(), 0)}},
	})
	if err := lab.Warm(ctx); err != nil {
		return err
	}
	if err := b.fleetTurns(ctx, lab, length); err != nil {
		return err
	}
	return b.fleetRest(ctx, lab)
}

// fleetTurns frees slots and fills them again under several loads.
func (b *Bench) fleetTurns(ctx context.Context, lab *fleets.Lab, length time.Duration) error {
	table := report.Section{
		Scenario: "turns", Title: fmt.Sprintf("A run ends, its slot is claimed again; %s each", length),
		Header: []string{"load", "claims/s", "next start p50 ms", "p99 ms", "max ms", "PG CPU µs/claim", "WAL B/claim", "other calls/s", "plain tasks/s"},
		Notes: []string{
			"next start: from the call that ends a run to the answer with the next one; ends that come at one moment share a transaction, a claim has its own",
			"lives: all PCs report every 5 s, renew their leases and beat every 10 s, and a leader tends every second",
		},
	}
	loads := []struct {
		name, text string
		pace       float64
		beside     fleets.Beside
	}{
		{"alone", "as fast as it goes", 0, fleets.Beside{}},
		{"lives", "as fast as it goes, lives", 0, fleets.Beside{Lives: true}},
		{"busy", fmt.Sprintf("as fast as it goes, lives, beside a plain queue of %s tasks/s", count(fleetPlain)), 0, fleets.Beside{Lives: true, Plain: fleetPlain}},
		{"paced", fmt.Sprintf("%d ends/s", fleetPace), fleetPace, fleets.Beside{}},
		{"paced_busy", fmt.Sprintf("%d ends/s, lives, beside a plain queue of %s tasks/s", fleetPace, count(fleetPlain)), fleetPace, fleets.Beside{Lives: true, Plain: fleetPlain}},
	}
	for _, load := range loads {
		var w fleets.Worked
		cost, err := b.measure(ctx, func() (err error) {
			w, err = lab.Work(ctx, length, lab.Turns()/len(loads), load.pace, load.beside)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", load.text, err)
		}
		b.showTurns(&table, load.name, load.text, w, cost)
	}
	b.Report.Show(b.Out, table)
	return nil
}

func (b *Bench) showTurns(table *report.Section, name, text string, w fleets.Worked, cost meter.Cost) {
	seconds := w.Elapsed.Seconds()
	b.Report.Rounds = append(b.Report.Rounds, Turned{"turns", text, w.Rate(), w.Next, float64(w.Plain) / seconds, float64(w.Calls) / seconds})
	b.Report.Figure("turns.weir."+name+"_claims_per_s", w.Rate())
	b.Report.Figure("turns.weir."+name+"_next_p50_ms", stats.Percentile(w.Next, 50))
	b.Report.Figure("turns.weir."+name+"_next_p99_ms", stats.Percentile(w.Next, 99))
	b.Report.Figure("turns.weir."+name+"_plain_per_s", float64(w.Plain)/seconds)
	table.Rows = append(table.Rows, []string{
		text, report.Number(w.Rate(), 0), report.Number(stats.Percentile(w.Next, 50), 1), report.Number(stats.Percentile(w.Next, 99), 1), report.Number(stats.Max(w.Next), 0),
		report.Number(cost.PostgresPer(max(w.Turns, 1)), 0), report.Number(cost.WALPer(max(w.Turns, 1)), 0), report.Number(float64(w.Calls)/seconds, 0), report.Number(float64(w.Plain)/seconds, 0),
	})
}

// fleetRest measures the repeated calls while nothing is new.
func (b *Bench) fleetRest(ctx context.Context, lab *fleets.Lab) error {
	table := report.Section{Scenario: "rest", Title: "Nothing is new: all slots run, and nobody has anything to say", Header: []string{"call", "ms median", "p99 ms", "rows written", "calls"}}
	for _, call := range []struct {
		name, text string
		do         func(context.Context) (fleets.Passed, error)
	}{
		{"pass", "a pass of the leader", func(ctx context.Context) (fleets.Passed, error) { return lab.Pass(ctx, 20) }},
		{"report", "a PC reports the same devices", lab.Reports},
		{"poll", "a PC without a free slot asks for work", lab.Polls},
	} {
		p, err := call.do(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", call.text, err)
		}
		b.Report.Figure("rest.weir."+call.name+"_ms", stats.Median(p.Took))
		b.Report.Figure("rest.weir."+call.name+"_rows_written", float64(p.Written))
		table.Rows = append(table.Rows, []string{
			call.text, report.Number(stats.Median(p.Took), 2), report.Number(stats.Percentile(p.Took, 99), 2), report.Number(float64(p.Written), 0), count(len(p.Took)),
		})
	}
	b.Report.Show(b.Out, table)
	return nil
}
