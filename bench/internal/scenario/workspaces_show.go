package scenario

import (
	"fmt"
	"time"

	"github.com/weirhq/weir/bench/internal/report"
	"github.com/weirhq/weir/bench/internal/stats"
	"github.com/weirhq/weir/bench/internal/workspaces"
)

func (s *site) showWake(all []Slept, why string) {
	table := report.Section{
		Scenario: "wake", Title: "A workspace in standby is opened: from the first request to the first 200",
		Header: []string{"provider", "wakes", "p50 ms", "p95 ms", "p99 ms", "max ms", "wanted", "begun", "seen", "shown", "GET p50 ms", "p95 ms"},
		Notes: []string{
			"weir up as a process; a browser's way: the page that waits, its stream, the page again",
			"the parts are medians: what is wanted is written · the start is begun · it answers and that is seen · the page has loaded; GET: of one that runs, through the server",
		},
	}
	if why != "" {
		table.Notes = append(table.Notes, "docker is not measured: "+why)
	}
	for _, w := range all {
		part := func(of func(workspaces.Woken) float64) (values []float64) {
			for _, one := range w.Wakes {
				values = append(values, of(one))
			}
			return values
		}
		total := part(func(w workspaces.Woken) float64 { return w.Total })
		row := []string{w.Provider, count(len(w.Wakes))}
		for _, p := range []float64{50, 95, 99, 100} {
			row = append(row, report.Number(stats.Percentile(total, p), 0))
			s.Report.Figure(fmt.Sprintf("wake.%s.p%.0f_ms", w.Provider, p), stats.Percentile(total, p))
		}
		for name, of := range []func(workspaces.Woken) float64{
			func(w workspaces.Woken) float64 { return w.Wanted }, func(w workspaces.Woken) float64 { return w.Begun },
			func(w workspaces.Woken) float64 { return w.Seen }, func(w workspaces.Woken) float64 { return w.Shown },
		} {
			median := stats.Median(part(of))
			row = append(row, report.Number(median, 0))
			s.Report.Figure(fmt.Sprintf("wake.%s.%s_ms", w.Provider, []string{"wanted", "begun", "seen", "shown"}[name]), median)
		}
		s.Report.Figure("wake."+w.Provider+".get_p50_ms", stats.Median(w.Asks))
		s.Report.Figure("wake."+w.Provider+".get_p95_ms", stats.Percentile(w.Asks, 95))
		table.Rows = append(table.Rows, append(row, report.Number(stats.Median(w.Asks), 2), report.Number(stats.Percentile(w.Asks, 95), 2)))
	}
	s.Report.Show(s.Out, table)
}

func (s *site) showProxy(one, many, large, echo map[string]workspaces.Asked) {
	table := report.Section{
		Scenario: "proxy", Title: "The same backend directly, behind a bare httputil.ReverseProxy, and behind Weir's proxy; both proxies in one process, in turns",
		Header: []string{"way", "GET p50 ms", "p95 ms", "GET/s", fmt.Sprintf("%d at once p50 ms", gateMany), "p95 ms", "GET/s", "large MB/s", "echo p50 ms", "p95 ms"},
		Notes:  []string{"GET of 1 kB, one after the other and so many at once; a large answer; a WebSocket message of 64 B and back"},
	}
	for _, way := range workspaces.Ways {
		for name, a := range map[string]workspaces.Asked{"one": one[way], "many": many[way], "echo": echo[way]} {
			s.Report.Figure("proxy."+way+"."+name+"_p50_ms", stats.Median(a.Took))
			s.Report.Figure("proxy."+way+"."+name+"_p95_ms", stats.Percentile(a.Took, 95))
			s.Report.Figure("proxy."+way+"."+name+"_per_s", a.Rate())
		}
		s.Report.Figure("proxy."+way+".large_mb_per_s", large[way].MBps())
		row := []string{way}
		for _, a := range []workspaces.Asked{one[way], many[way]} {
			row = append(row, report.Number(stats.Median(a.Took), 3), report.Number(stats.Percentile(a.Took, 95), 3), report.Number(a.Rate(), 0))
		}
		table.Rows = append(table.Rows, append(row, report.Number(large[way].MBps(), 0), report.Number(stats.Median(echo[way].Took), 3), report.Number(stats.Percentile(echo[way].Took, 95), 3)))
	}
	added := func(name string) float64 {
		value := s.Report.Value("proxy.weir."+name) - s.Report.Value("proxy.bare."+name)
		s.Report.Figure("proxy.added."+name, value)
		return value
	}
	table.Notes = append(table.Notes, fmt.Sprintf("Weir adds %s ms to a GET, %s ms to one of %d at once, %s ms to a message (p50)",
		report.Number(added("one_p50_ms"), 3), report.Number(added("many_p50_ms"), 3), gateMany, report.Number(added("echo_p50_ms"), 3)))
	s.Report.Show(s.Out, table)
}

func (s *site) showHomes(all []workspaces.Homed) {
	table := report.Section{
		Scenario: "homes", Title: "A home is archived, read back from the bucket and compared, and brought back, each in one process",
		Header: []string{"home MB", "files", "archive MB", "archive MB/s", "verify MB/s", "restore MB/s", "peak RSS MB", "of it before", "heap MB: archive", "verify", "restore"},
		Notes:  []string{"a fifth in small files of text, two fifths in large ones, two fifths that nothing makes smaller; MB/s of the home; the files were written just before and are in memory"},
	}
	for i, h := range all {
		name := "homes." + []string{"small", "large"}[min(i, 1)] + "."
		peak := max(h.Archive.Resident, h.Verify.Resident, h.Restore.Resident)
		for figure, value := range map[string]float64{
			"archive_mb_per_s": h.MBps(h.Archive), "verify_mb_per_s": h.MBps(h.Verify), "restore_mb_per_s": h.MBps(h.Restore),
			"peak_rss_mb": float64(peak) / 1e6, "bytes": float64(h.Bytes), "files": float64(h.Files),
		} {
			s.Report.Figure(name+figure, value)
		}
		table.Rows = append(table.Rows, []string{
			report.Number(float64(h.Bytes)/1e6, 0), count(h.Files), report.Number(float64(h.Packed)/1e6, 0),
			report.Number(h.MBps(h.Archive), 0), report.Number(h.MBps(h.Verify), 0), report.Number(h.MBps(h.Restore), 0),
			report.Number(float64(peak)/1e6, 0), report.Number(float64(h.Idle)/1e6, 0),
			report.Number(float64(h.Archive.Heap)/1e6, 0), report.Number(float64(h.Verify.Heap)/1e6, 0), report.Number(float64(h.Restore.Heap)/1e6, 0),
		})
	}
	s.Report.Show(s.Out, table)
}

func (s *site) showLooks(n int, passes []passed) error {
	table := report.Section{
		Scenario: "looks", Title: fmt.Sprintf("The controller looks at %s workspaces: a recorded provider, archives in a folder", count(n)),
		Header: []string{"pass", "passes", "ms median", "of it the bucket", "p99 ms", "PG CPU ms", "statements", "rows written", "WAL kB"},
		Notes:  []string{fmt.Sprintf("one of %d runs, three of ten are in standby, the others archived; statements and rows of one pass, WAL the median", 100)},
	}
	for _, p := range passes {
		times := len(p.Took)
		each := func(of float64) float64 { return of / float64(times) }
		for figure, value := range map[string]float64{
			"ms": stats.Median(p.Took), "bucket_ms": stats.Median(p.Listed), "statements": each(float64(p.Statements)), "rows_written": each(float64(p.Written)), "wal_bytes": stats.Median(p.WAL),
		} {
			s.Report.Figure("looks.weir."+p.name+"_"+figure, value)
		}
		if p.change > 0 && p.Written < int64(p.change*(times-1)) {
			return fmt.Errorf("%s: %d rows were written in %d passes: nothing has changed", p.text, p.Written, times)
		}
		table.Rows = append(table.Rows, []string{
			p.text, count(times), report.Number(stats.Median(p.Took), 0), report.Number(stats.Median(p.Listed), 0), report.Number(stats.Percentile(p.Took, 99), 0),
			report.Number(p.cost.PostgresPer(times)/1000, 0), report.Number(each(float64(p.Statements)), 1), report.Number(each(float64(p.Written)), 1), report.Number(stats.Median(p.WAL)/1000, 1),
		})
	}
	s.Report.Show(s.Out, table)
	return nil
}

func (s *site) showFailover(n int, term time.Duration, killed, ended workspaces.Fallen) {
	table := report.Section{
		Scenario: "failover", Title: fmt.Sprintf("Two controllers, %d workspaces on their way, and the one that leads goes", n),
		Header: []string{"it was", "under way", "the other leads s", "goes on s", "all there s", "begun twice", "tries that failed"},
		Notes:  []string{fmt.Sprintf("a term of %s (12 s by default): who was killed is not replaced before its end; all times are from the blow", term)},
	}
	for _, f := range []struct {
		name, text string
		workspaces.Fallen
	}{{"killed", "killed with -9 while they start", killed}, {"ended", "asked to end while they stop", ended}} {
		for figure, value := range map[string]float64{"led_s": f.Led, "on_s": f.On, "all_s": f.All, "twice": float64(f.Twice)} {
			s.Report.Figure("failover."+f.name+"."+figure, value)
		}
		table.Rows = append(table.Rows, []string{
			f.text, count(f.Under), report.Number(f.Led, 2), report.Number(f.On, 2), report.Number(f.All, 2), count(f.Twice), count(f.Failed),
		})
	}
	s.Report.Rounds = append(s.Report.Rounds, killed, ended)
	s.Report.Show(s.Out, table)
}
