package spelling

import "strings"

// Closest is the word that was likely meant by a text, whatever its case: at most two
// letters apart, and fewer than half of the word's; or else one that the text goes on
// from. The first of equals. Empty if none is near.
func Closest(text string, words []string) string {
	text = strings.ToLower(text)
	best, least := "", 3
	for _, word := range words {
		lower := strings.ToLower(word)
		switch {
		case best == "" && len(word) > 2 && strings.HasPrefix(text, lower):
			best = word
		case len(text)-len(word) >= least || len(word)-len(text) >= least:
		default:
			if d := distance(text, lower); d < least && 2*d < len(word) {
				best, least = word, d
			}
		}
	}
	return best
}

// distance is how many letters must be changed, added, left out or swapped with
// the next one.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
