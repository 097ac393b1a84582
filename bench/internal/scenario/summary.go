package scenario

import (
	"math"

	"github.com/weirhq/weir/bench/internal/meter"
	"github.com/weirhq/weir/bench/internal/report"
	"github.com/weirhq/weir/bench/internal/stats"
)

func newRound(s *System, l load, number int, inserted, worked meter.Cost) Round {
	both := inserted.Plus(worked)
	round := Round{
		Scenario: l.scenario, System: s.Name(), Round: number + 1, Workers: l.workers, Jobs: l.jobs,
		InsertPerSecond: inserted.Rate(l.jobs),
		JobsPerSecond:   worked.Rate(l.jobs),
		InsertWAL:       inserted.WALPer(l.jobs),
		WorkWAL:         worked.WALPer(l.jobs),
		ClientCPU:       both.ClientPer(l.jobs),
		Load:            report.LoadAverage(),
	}
	if both.Known {
		cpu := both.PostgresPer(l.jobs)
		round.PostgresCPU = &cpu
	}
	return round
}

// summary is the median of several rounds of one system.
type summary struct {
	system                          string
	rounds                          int
	rate, best, insert              float64
	wal, insertWAL, workWAL         float64
	postgresMicros, clientCPUMicros float64
}

func summarise(system string, rounds []Round) summary {
	median := func(of func(Round) float64) float64 {
		var values []float64
		for _, r := range rounds {
			values = append(values, of(r))
		}
		return stats.Median(values)
	}
	var rates []float64
	for _, r := range rounds {
		rates = append(rates, r.JobsPerSecond)
	}
	return summary{
		system: system, rounds: len(rounds),
		rate: stats.Median(rates), best: stats.Max(rates),
		insert:    median(func(r Round) float64 { return r.InsertPerSecond }),
		wal:       median(Round.WAL),
		insertWAL: median(func(r Round) float64 { return r.InsertWAL }),
		workWAL:   median(func(r Round) float64 { return r.WorkWAL }),
		postgresMicros: median(func(r Round) float64 {
			if r.PostgresCPU == nil {
				return math.NaN()
			}
			return *r.PostgresCPU
		}),
		clientCPUMicros: median(func(r Round) float64 { return r.ClientCPU }),
	}
}

var summaryHeader = []string{
	"system", "jobs/s median", "best", "rounds", "insert/s", "WAL B/job", "insert", "work", "PG CPU µs/job", "client CPU µs/job",
}

func (s summary) row() []string {
	return []string{
		s.system, report.Number(s.rate, 0), report.Number(s.best, 0), report.Number(float64(s.rounds), 0),
		report.Number(s.insert, 0), report.Number(s.wal, 0), report.Number(s.insertWAL, 0), report.Number(s.workWAL, 0),
		report.Number(s.postgresMicros, 0), report.Number(s.clientCPUMicros, 0),
	}
}

// record keeps the figures of a summary under scenario.system.
func (s summary) record(r *report.Report, scenario string) {
	prefix := scenario + "." + s.system + "."
	r.Figure(prefix+"jobs_per_s", s.rate)
	r.Figure(prefix+"jobs_per_s_best", s.best)
	r.Figure(prefix+"insert_per_s", s.insert)
	r.Figure(prefix+"wal_per_job", s.wal)
	r.Figure(prefix+"insert_wal_per_job", s.insertWAL)
	r.Figure(prefix+"work_wal_per_job", s.workWAL)
	r.Figure(prefix+"postgres_cpu_us", s.postgresMicros)
	r.Figure(prefix+"client_cpu_us", s.clientCPUMicros)
}

// ratioRow is Weir divided by River, column by column, when both were measured.
func ratioRow(summaries []summary) []string {
	var weir, river *summary
	for i := range summaries {
		switch summaries[i].system {
		case "weir":
			weir = &summaries[i]
		case "river":
			river = &summaries[i]
		}
	}
	if weir == nil || river == nil {
		return nil
	}
	times := func(a, b float64) string { return report.Number(stats.Ratio(a, b), 2) }
	return []string{
		"weir/river", times(weir.rate, river.rate), times(weir.best, river.best), "",
		times(weir.insert, river.insert), times(weir.wal, river.wal),
		times(weir.insertWAL, river.insertWAL), times(weir.workWAL, river.workWAL),
		times(weir.postgresMicros, river.postgresMicros), times(weir.clientCPUMicros, river.clientCPUMicros),
	}
}

// section turns summaries into a table and records their figures.
func (b *Bench) section(name, title string, notes []string, summaries []summary) {
	table := report.Section{Scenario: name, Title: title, Notes: notes, Header: summaryHeader}
	for _, s := range summaries {
		s.record(b.Report, name)
		table.Rows = append(table.Rows, s.row())
	}
	if row := ratioRow(summaries); row != nil {
		table.Rows = append(table.Rows, row)
	}
	b.Report.Show(b.Out, table)
}
