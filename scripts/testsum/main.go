// Command testsum reads the stream of go test -json and shows what a person
// wants from it: a line per package while it runs, all output of what failed,
// every skip with its reason, the ten slowest tests, how long the run took and how
// much of the machine it had, and one last line with the counts.
//
//	go test -json ./... | testsum
//
// It exits 1 when a test failed, when a package ended without a verdict, when
// no test ran, and, with CI=true, when a test was skipped: on a developer's
// machine a component may be missing, in CI that would hide a hole.
//
// A passing test stays silent, except for log lines that begin with
// "measured:". They carry the numbers we publish.
package main

import (
	"fmt"
	"os"
	"runtime"
	"time"
)

func main() {
	begun := time.Now()
	before, told := worked()
	sum := newSummary(os.Stdout)
	if err := sum.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testsum: read the test stream:", err)
		os.Exit(1)
	}
	took := fmt.Sprintf("took %s, building included", time.Since(begun).Round(time.Second))
	if now, ok := worked(); ok && told {
		took += "; " + now.since(before, time.Since(begun), runtime.NumCPU())
	}
	if !sum.close(os.Getenv("CI") == "true", took) {
		os.Exit(1)
	}
}
