package meter

import (
	"math"
	"os"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	const tail = " S 41 1 1 0 -1 4194560 9 8 7 6 150 50 30 20 20 0 1 0 99 0 0"
	for _, c := range []struct {
		line string
		want procStat
	}{
		{"42 (postgres)" + tail, procStat{"postgres", 41, 2 * time.Second, 500 * time.Millisecond}},
		{"42 (a) b (c)" + tail, procStat{"a) b (c", 41, 2 * time.Second, 500 * time.Millisecond}},
	} {
		got, err := parseStat(c.line)
		if err != nil || got != c.want {
			t.Errorf("parseStat(%q) = %+v, %v, want %+v", c.line, got, err, c.want)
		}
	}
}

func TestParseStatRefuses(t *testing.T) {
	for _, line := range []string{"", "42 postgres S 41", "42 (postgres) S 41 1", "42 (p) S x 1 1 0 -1 4 9 8 7 6 1 1 1 1"} {
		if got, err := parseStat(line); err == nil {
			t.Errorf("parseStat(%q) = %+v, want an error", line, got)
		}
	}
}

// CPU time used in this process must show in the reading of its own family.
func TestFamilyCPUCountsWork(t *testing.T) {
	before, err := familyCPU(os.Getpid())
	if err != nil {
		t.Skipf("no /proc here: %v", err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for n := 0; time.Now().Before(deadline); n++ {
		if n%1_000_000 != 0 {
			continue
		}
		now, err := familyCPU(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if now-before >= 5*clockTick {
			return
		}
	}
	t.Fatal("10 s of work did not show as CPU time")
}

func TestReadStatOfMissingProcess(t *testing.T) {
	if _, err := readStat(1 << 30); err == nil {
		t.Fatal("a process that cannot exist was read")
	}
}

func TestProcessMilliseconds(t *testing.T) {
	if ran := ProcessMilliseconds(os.Getpid()); !(ran > 0) {
		t.Errorf("this process ran for %v ms", ran)
	}
	if ran := ProcessMilliseconds(-1); !math.IsNaN(ran) {
		t.Errorf("no process ran for %v ms", ran)
	}
}
