package report

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Table renders rows under a header. The first column is aligned left, the others right
// if they contain numbers, so that digits are below digits.
func Table(header []string, rows [][]string) string {
	widths := make([]int, len(header))
	for _, row := range append([][]string{header}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	line := func(row []string, right func(i int) bool) {
		b.WriteString(" ")
		var text strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			text.WriteString(" ")
			if right(i) {
				text.WriteString(pad + cell)
			} else {
				text.WriteString(cell + pad)
			}
			text.WriteString(" ")
		}
		b.WriteString(strings.TrimRight(text.String(), " ") + "\n")
	}
	numeric := func(i int) bool { return i > 0 && columnIsNumeric(rows, i) }
	line(header, numeric)
	rule := make([]string, len(header))
	for i := range rule {
		rule[i] = strings.Repeat("─", widths[i])
	}
	line(rule, numeric)
	for _, row := range rows {
		line(row, numeric)
	}
	return b.String()
}

// columnIsNumeric reports whether a column contains at least one number and nothing that
// is neither a number nor a mark for a missing one.
func columnIsNumeric(rows [][]string, i int) bool {
	found := false
	for _, row := range rows {
		if i >= len(row) || row[i] == "" || row[i] == missing {
			continue
		}
		if !strings.ContainsAny(row[i][:1], "0123456789-+") {
			return false
		}
		found = true
	}
	return found
}

// missing replaces a figure that was not measured.
const missing = "n/a"

// Number formats a value with the given decimals and groups of thousands.
func Number(value float64, decimals int) string {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return missing
	}
	text := strconv.FormatFloat(math.Abs(value), 'f', decimals, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	var groups []string
	for len(whole) > 3 {
		groups = append([]string{whole[len(whole)-3:]}, groups...)
		whole = whole[:len(whole)-3]
	}
	text = strings.Join(append([]string{whole}, groups...), ",")
	if decimals > 0 {
		text += "." + fraction
	}
	if value < 0 && strings.ContainsAny(text, "123456789") {
		text = "-" + text
	}
	return text
}

// Percent formats a share such as 0.12 as a percentage.
func Percent(share float64) string {
	if text := Number(100*share, 1); text != missing {
		return text + " %"
	}
	return missing
}
