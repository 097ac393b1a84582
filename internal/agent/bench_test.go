package agent_test

import (
	"fmt"
	"testing"
)

// BenchmarkSequentialSteps measures forty steps in a row: each process, and the time from
// its end to the start of the next one.
func BenchmarkSequentialSteps(b *testing.B) {
	w := newWorld(b)
	w.run(w.config("n1", map[string]int{"sh": 4}))
	const steps = 40
	b.ResetTimer()
	for range b.N {
		var list []step
		for i := range steps {
			s := step{"key": fmt.Sprint("s", i), "service": "sh", "run": map[string]any{"argv": []string{"/bin/true"}}}
			if i > 0 {
				s["needs"] = []string{fmt.Sprint("s", i-1)}
			}
			list = append(list, s)
		}
		job := w.submit(list...)
		if got := w.end(job, fmt.Sprint("s", steps-1)); got.State != "done" {
			b.Fatalf("got %+v", got)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*steps), "ms/step")
}
