package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Of what a progress bar writes over itself the last state is kept, however the output
// arrives.
func TestCarriageReturnsKeepTheLastState(t *testing.T) {
	var bar strings.Builder
	for n := range 30_000 { // more than a line may have
		fmt.Fprintf(&bar, "\rload %5d", n)
	}
	input := "one\r\n\r\nsecond\r\r\n10%\r20%\r30%\nsame\r\n" + bar.String() + "\nstill 1\rstill 2\r"
	want := []string{"one", "", "second", "30%", "same", "load 29999", "still 2"}
	for _, size := range []int{1, 2, 3, 7, 4096, len(input)} {
		var got []string
		s := splitter{}
		s.line = func(line []byte, cut int64) {
			got = append(got, string(line))
			if cut > 0 {
				t.Errorf("by %d: %d bytes of %.20q were cut", size, cut, line)
			}
		}
		for rest := input; rest != ""; rest = rest[min(size, len(rest)):] {
			s.write([]byte(rest[:min(size, len(rest))]))
		}
		s.end()
		if !slices.Equal(got, want) {
			t.Errorf("by %d: %.200q", size, strings.Join(got, "|"))
		}
	}
}
