package rollout

import (
	"fmt"
	"strings"
)

const (
	// around is how many equal lines are shown beside those that differ.
	around = 3
	// diffMost bounds the table of a comparison. What is larger is shown as removed
	// and added whole.
	diffMost = 4_000_000
)

// line is one line of a comparison: ' ' in both, '-' only before, '+' only now.
type line struct {
	mark byte
	text string
}

// diff shows how two texts differ, in the form of diff -u without its head.
func diff(was, now []string) string {
	head := 0
	for head < len(was) && head < len(now) && was[head] == now[head] {
		head++
	}
	tail := 0
	for tail < len(was)-head && tail < len(now)-head && was[len(was)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	var lines []line
	for _, text := range was[:head] {
		lines = append(lines, line{' ', text})
	}
	lines = append(lines, compare(was[head:len(was)-tail], now[head:len(now)-tail])...)
	for _, text := range was[len(was)-tail:] {
		lines = append(lines, line{' ', text})
	}
	return show(lines)
}

// compare finds the longest common lines by the usual table.
func compare(was, now []string) (lines []line) {
	if len(was)*len(now) > diffMost {
		for _, text := range was {
			lines = append(lines, line{'-', text})
		}
		for _, text := range now {
			lines = append(lines, line{'+', text})
		}
		return lines
	}
	common := make([][]int, len(was)+1)
	for i := range common {
		common[i] = make([]int, len(now)+1)
	}
	for i := len(was) - 1; i >= 0; i-- {
		for j := len(now) - 1; j >= 0; j-- {
			if was[i] == now[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(was) || j < len(now) {
		switch {
		case i < len(was) && j < len(now) && was[i] == now[j]:
			lines = append(lines, line{' ', was[i]})
			i, j = i+1, j+1
		case j == len(now) || i < len(was) && common[i+1][j] >= common[i][j+1]:
			lines = append(lines, line{'-', was[i]})
			i++
		default:
			lines = append(lines, line{'+', now[j]})
			j++
		}
	}
	return lines
}

// show writes what differs, with some lines around it.
func show(lines []line) string {
	near := make([]bool, len(lines))
	for i, l := range lines {
		if l.mark == ' ' {
			continue
		}
		for j := max(0, i-around); j <= min(len(lines)-1, i+around); j++ {
			near[j] = true
		}
	}
	var b strings.Builder
	was, now := 1, 1
	for i, l := range lines {
		if near[i] {
			if i == 0 || !near[i-1] {
				fmt.Fprintf(&b, "@@ -%d +%d @@\n", was, now)
			}
			b.WriteByte(l.mark)
			b.WriteString(l.text)
			b.WriteByte('\n')
		}
		if l.mark != '+' {
			was++
		}
		if l.mark != '-' {
			now++
		}
	}
	return b.String()
}
