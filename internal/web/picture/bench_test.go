package picture

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"
)

// random is n tasks that each need a few of the fifty before them, or of any
// before them: nothing groups, and edges are long.
func random(n, needs, back int) Graph {
	r := rand.New(rand.NewPCG(1, 2))
	g := Graph{Title: "random"}
	for i := range n {
		g.Tasks = append(g.Tasks, Task{Key: fmt.Sprintf("task-%d", i), Service: fmt.Sprintf("service-%d", i), State: States[i%len(States)], Href: "/tasks/x"})
		for range needs {
			if i > 0 {
				g.Edges = append(g.Edges, [2]int{max(0, i-1-r.IntN(min(i, back))), i})
			}
		}
	}
	return g
}

// cpu is the processor time this process has used: what a shared machine
// cannot falsify.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkDAG: each must stay under 100 ms of processor time.
func BenchmarkDAG(b *testing.B) {
	for _, c := range []struct {
		name string
		g    Graph
	}{
		{"200 mesh", mesh(200)},
		{"2000 mesh", mesh(2000)},
		{"2000 fan-out", fanOut(1997)},
		{"2000 chains", chains(666)},
		{"2000 in a line", random(2000, 1, 1)},
		{"2000 tree", random(2000, 1, 2000)},
		{"2000 random near", random(2000, 2, 50)},
		{"2000 random far", random(2000, 3, 2000)},
		{"2000 dense", random(2000, 20, 2000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			size, before := 0, cpu()
			for b.Loop() {
				size = len(DAG(lang, c.g))
			}
			b.ReportMetric((cpu()-before).Seconds()*1000/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(size)/1024, "kB")
		})
	}
}

func BenchmarkOthers(b *testing.B) {
	for _, c := range []struct {
		name string
		draw func() SVG
	}{
		{"gantt 400 rows", func() SVG { return Gantt(lang, timetableLarge()) }},
		{"throughput", func() SVG { return Throughput(lang, flow()) }},
		{"latency", func() SVG { return Latency(lang, delays()) }},
		{"strip", func() SVG { return Strip(lang, life()) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.draw()
			}
		})
	}
}
