package app

import (
	"fmt"
	"io"
	"time"
)

// progress tells a person line by line what happens and how long it took.
type progress struct {
	out   io.Writer
	began time.Time
}

func newProgress(out io.Writer) *progress { return &progress{out: out, began: time.Now()} }

// step says what begins, does it, and says on the same line how it ended.
func (p *progress) step(doing string, do func() (string, error)) error {
	fmt.Fprintf(p.out, "%s ... ", doing)
	start := time.Now()
	done, err := do()
	if err != nil {
		fmt.Fprintf(p.out, "failed (%s)\n", took(time.Since(start)))
		return err
	}
	fmt.Fprintf(p.out, "%s (%s)\n", done, took(time.Since(start)))
	return nil
}

func (p *progress) line(format string, args ...any) { fmt.Fprintf(p.out, format+"\n", args...) }

// took is a duration short enough to read at a glance.
func took(d time.Duration) string {
	if d < time.Millisecond {
		return "under 1 ms"
	}
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// count is a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
