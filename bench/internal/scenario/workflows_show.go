package scenario

import (
	"fmt"

	"github.com/weirhq/weir/bench/internal/flow"
	"github.com/weirhq/weir/bench/internal/probe"
	"github.com/weirhq/weir/bench/internal/report"
	"github.com/weirhq/weir/bench/internal/stats"
)

// titles describe the shapes for the tables.
var titles = map[flow.Shape]string{
	flow.Chain:        "steps in a row, function",
	flow.ChainResults: "the same, each reads the result before it",
	flow.ChainProcess: "steps in a row, process each",
	flow.FanNeeds:     "fan-out, 10 workers, written in the definition",
	flow.FanMap:       "fan-out, 10 workers, map over a result",
	flow.Burst:        "a call each, 20 at once",
	flow.BurstBatch:   "one call",
	flow.DueJobs:      "workflows of one step",
	flow.DueTasks:     "tasks",
}

// published are figures by other authors on other machines, for readers without a peer
// here: what, system, milliseconds for all, and for each.
var published = [][]string{
	{"40 " + titles[flow.Chain], "Windmill, dedicated worker, 4 vCPU (published)", "392", "9.80"},
	{"40 " + titles[flow.Chain], "Temporal, tuned, 4 vCPU (published)", "760", "19.00"},
	{"400 " + titles[flow.FanMap], "Temporal, Go (published)", "4,270", "10.68"},
}

// record keeps the figures: workflows.system.shape_quantity.
func (f *Flowed) record(r *report.Report) {
	figure := func(quantity string, value float64) {
		r.Figure(fmt.Sprintf("workflows.%s.%s_%s", f.System, f.Shape, quantity), value)
	}
	figure("size", float64(f.Size))
	switch f.Shape {
	case flow.Burst, flow.BurstBatch:
		figure("submitted_per_s", f.perSecond(f.Submitted))
		figure("done_per_s", f.perSecond(f.Done))
		figure("done_s", stats.Median(f.Done)/1000)
	case flow.DueJobs, flow.DueTasks:
		figure("late_p50_ms", stats.Percentile(f.Late, 50))
		figure("late_p99_ms", stats.Percentile(f.Late, 99))
		figure("late_max_ms", stats.Max(f.Late))
		figure("made_p99_ms", stats.Percentile(f.Made, 99))
	default:
		figure("ms", stats.Median(f.Done))
		figure("each_ms", f.each(stats.Median(f.Done)))
		figure("s", stats.Median(f.Done)/1000)
	}
}

func (f *Flowed) perSecond(took []float64) float64 {
	return stats.Ratio(float64(f.Size), stats.Median(took)/1000)
}

// each returns the share of one step.
func (f *Flowed) each(took float64) float64 { return took / float64(f.Size) }

func least(list []float64) float64 { return stats.Percentile(list, 0) }

// showFlows prints what one job took, with published figures if alone is set.
func (b *Bench) showFlows(found []*Flowed, notes []string, alone bool) {
	table := report.Section{
		Scenario: "workflows",
		Title:    "One workflow job: from the call that submits it to its committed end",
		Header:   []string{"job", "system", "ms median", "ms/step", "best ms/step", "rounds"},
		Notes:    notes,
	}
	for _, f := range found {
		if len(f.Done) == 0 || f.Shape == flow.Burst || f.Shape == flow.BurstBatch {
			continue
		}
		middle := stats.Median(f.Done)
		table.Rows = append(table.Rows, []string{
			count(f.Size) + " " + titles[f.Shape], f.System, report.Number(middle, 0), report.Number(f.each(middle), 2),
			report.Number(f.each(least(f.Done)), 2), count(len(f.Done)),
		})
	}
	if alone {
		for _, row := range published {
			table.Rows = append(table.Rows, append(row, "", ""))
		}
	}
	b.Report.Show(b.Out, table)
}

func (b *Bench) showBursts(found []*Flowed) {
	table := report.Section{
		Scenario: "burst", Title: "Jobs of one step submitted at once, function, one worker with 100 slots that runs meanwhile",
		Header: []string{"submitted by", "system", "jobs", "submitted/s", "all submitted s", "all done s", "done/s"},
	}
	for _, f := range found {
		if f.Shape != flow.Burst && f.Shape != flow.BurstBatch {
			continue
		}
		table.Rows = append(table.Rows, []string{
			titles[f.Shape], f.System, count(f.Size), report.Number(f.perSecond(f.Submitted), 0), report.Number(stats.Median(f.Submitted)/1000, 2),
			report.Number(stats.Median(f.Done)/1000, 2), report.Number(f.perSecond(f.Done), 0),
		})
	}
	b.Report.Show(b.Out, table)
}

func (b *Bench) showDue(found []*Flowed) {
	table := report.Section{
		Scenario: "due", Title: "Cron schedules due at one instant: from the instant to the first line of the handler",
		Header: []string{"schedules of", "system", "schedules", "p50 ms", "p99 ms", "max ms", "written p50 ms", "written p99 ms"},
		Notes:  []string{"written: from the instant to the commit of the job or task, where it is known"},
	}
	for _, f := range found {
		if len(f.Late) == 0 {
			continue
		}
		table.Rows = append(table.Rows, []string{
			titles[f.Shape], f.System, count(f.Size),
			report.Number(stats.Percentile(f.Late, 50), 0), report.Number(stats.Percentile(f.Late, 99), 0), report.Number(stats.Max(f.Late), 0),
			report.Number(stats.Percentile(f.Made, 50), 0), report.Number(stats.Percentile(f.Made, 99), 0),
		})
	}
	b.Report.Show(b.Out, table)
}

func (b *Bench) showProbe(m probe.Machine) {
	b.Report.Figure("workflows.machine.commit_ms", m.Commit)
	b.Report.Figure("workflows.machine.process_ms", m.Process)
	b.Report.Figure("workflows.machine.fibonacci33_ms", m.Fibonacci)
	b.Report.Show(b.Out, report.Section{
		Scenario: "machine", Title: "This machine, to compare it with another",
		Header: []string{"what", "ms median", "ms p99"},
		Rows: [][]string{
			{fmt.Sprintf("commit of one row with fsync (%s of them)", count(m.Commits)), report.Number(m.Commit, 2), report.Number(m.CommitP99, 2)},
			{"start " + flow.Program + " and wait for it", report.Number(m.Process, 2), ""},
			{"fibonacci(33), naive, Go", report.Number(m.Fibonacci, 1), ""},
		},
	})
}
