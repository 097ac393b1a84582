package picture

import (
	"fmt"
	"math"
	"time"
)

var noon = time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)

func sec(n float64) time.Time { return noon.Add(time.Duration(n * float64(time.Second))) }

func timetableSmall() Timetable {
	return Timetable{Title: "Job nightly-build", Now: sec(190), Rows: []Row{
		{Name: "checkout", Service: "git", State: Done, Created: sec(0), Href: "/tasks/1", Bars: []Bar{{1, Done, "n1", sec(2), sec(9)}}},
		{
			Name: "compile", Service: "build", State: Done, Created: sec(0), Needs: []int{0}, Href: "/tasks/2",
			Waits: []Wait{{"needs", sec(0), sec(9)}, {"pool", sec(9), sec(14)}, {"time", sec(40), sec(55)}},
			Bars:  []Bar{{1, Retrying, "n1", sec(14), sec(40)}, {2, Done, "n2", sec(55), sec(102)}},
		},
		{
			Name: "lint", Service: "build", State: Failed, Created: sec(0), Needs: []int{0}, Href: "/tasks/3",
			Bars: []Bar{{1, Retrying, "n1", sec(10), sec(10)}, {2, Expired, "n1", sec(30), sec(61)}, {3, Failed, "n3", sec(92), sec(120)}},
		},
		{Name: "unit-tests", Service: "test", State: Running, Created: sec(0), Needs: []int{1}, Href: "/tasks/4", Bars: []Bar{{1, Running, "n2", sec(104), time.Time{}}}},
		{Name: "데이터베이스-백업-및-검증-작업-0001", Service: "test", State: Available, Created: sec(100), Needs: []int{1}},
		{Name: "report", Service: "notify", State: Skipped, Created: sec(0), Needs: []int{2}},
		{Name: "publish", Service: "release", State: Pending, Created: sec(0), Needs: []int{3, 4}},
	}}
}

func timetableLarge() Timetable {
	t := Timetable{Title: "Job film-204", Limit: 14, MoreHref: "/jobs/1/tasks"}
	t.Rows = append(t.Rows, Row{Name: "split", State: Done, Created: sec(0), Bars: []Bar{{1, Done, "n", sec(0.2), sec(3)}}})
	for i := range 400 {
		from := 3 + float64(i/12)*2.1 + float64(i%12)*0.1
		r := Row{Name: fmt.Sprintf("frame-%04d", i), State: Done, Created: sec(0), Needs: []int{0}, Bars: []Bar{{1, Done, "n", sec(from), sec(from + 1.2 + float64(i*7%11)/10)}}}
		if i%60 == 7 {
			r.State, r.Bars[0].Outcome = Failed, Failed
		}
		t.Rows = append(t.Rows, r)
	}
	t.Rows = append(t.Rows, Row{Name: "join", State: Done, Created: sec(0), Needs: []int{1, 100, 399, 400}, Bars: []Bar{{1, Done, "n", sec(74), sec(90)}}})
	return t
}

func timetableQuick() Timetable {
	ms := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Millisecond) }
	return Timetable{Title: "Job quick", Rows: []Row{
		{Name: "a", State: Done, Created: ms(0), Bars: []Bar{{1, Done, "n", ms(3), ms(3)}}},
		{Name: "b", State: Done, Created: ms(0), Bars: []Bar{{1, Done, "n", ms(6), ms(19)}}, Needs: []int{0}},
		{Name: "c", State: Done, Created: ms(0), Bars: []Bar{{1, Done, "n", ms(22), ms(41)}}, Needs: []int{1}},
	}}
}

func timetableDays() Timetable {
	h := func(n float64) time.Time { return sec(3600 * n) }
	return Timetable{Title: "Job migration", Now: h(100), Rows: []Row{
		{Name: "expand", State: Done, Created: h(0), Bars: []Bar{{1, Done, "n", h(1), h(30)}}},
		{Name: "backfill", State: Running, Created: h(0), Bars: []Bar{{1, Returned, "n", h(31), h(60)}, {2, Running, "n", h(61), time.Time{}}}, Needs: []int{0}},
		{Name: "contract", State: Pending, Created: h(0), Waits: []Wait{{"needs", h(0), time.Time{}}}, Needs: []int{1}},
	}}
}

func flow() Flow {
	f := Flow{Title: "Tasks ended per minute", From: noon, To: noon.Add(time.Hour)}
	for i := range 60 {
		if i > 21 && i < 27 {
			continue
		}
		failed := 0
		if i%9 == 4 {
			failed = 1 + i/3
		}
		f.Points = append(f.Points, FlowPoint{noon.Add(time.Duration(i) * time.Minute), int(900 + 500*math.Sin(float64(i)/6) + float64(i*37%90)), failed * 6})
	}
	return f
}

func delays() Delays {
	d := Delays{Title: "Time from available to running", From: noon, To: noon.Add(time.Hour)}
	for i := range 60 {
		if i > 21 && i < 27 || i == 29 || i == 31 {
			continue
		}
		p50 := 0.08 + 0.05*math.Sin(float64(i)/5)
		d.Points = append(d.Points, DelayPoint{noon.Add(time.Duration(i) * time.Minute), p50, p50*4 + float64(i*31%17)/20})
	}
	return d
}

func waiting() Waiting {
	return Waiting{Rows: []WaitRow{
		{Gate: "needs", Count: 10000, More: true, Oldest: 26 * time.Hour, Href: "/tasks?gate=needs"},
		{Gate: "pool", Key: "gpu", Count: 1204, Oldest: 14 * time.Minute, Href: "/tasks?pool=gpu"},
		{Gate: "order", Key: "데이터베이스-고객-주문-원장", Count: 12, Oldest: 90 * time.Second},
		{Gate: "time", Count: 230},
		{Gate: "hold", Count: 1, Oldest: 3 * time.Hour},
	}}
}

func machines() Machines {
	return Machines{Limit: 4, Rows: []Machine{
		{Name: "node-eu-1", State: Running, Href: "/nodes/1", Services: []Service{{"render", 5, 8}, {"encode", 2, 2}}},
		{Name: "node-eu-2", State: Draining, Href: "/nodes/2", Services: []Service{{"render", 1, 8}}},
		{Name: "gpu-rack-07-upper-shelf-left-0042", State: Running, Services: []Service{{"train", 180, 256}, {"infer", 0, 16}}},
		{Name: "노드-서울", State: Offline},
		{Name: "one more", State: Running},
		{Name: "and one", State: Running},
	}}
}

func life() Life {
	return Life{Title: "Task compile", Now: sec(190), Spans: []Span{
		{Pending, "gate needs", sec(0), sec(9)},
		{Available, "", sec(9), sec(9.2)},
		{Running, "attempt 1 on n1", sec(9.2), sec(52)},
		{Pending, "gate time: backs off", sec(52), sec(67)},
		{Available, "", sec(67), sec(67)},
		{Running, "attempt 2 on n2", sec(67), sec(140)},
		{Done, "", sec(140), sec(140)},
	}}
}
