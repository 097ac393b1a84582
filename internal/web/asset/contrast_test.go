package asset

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"
)

var token = regexp.MustCompile(`--([a-z0-9-]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\);`)

// readTokens gives the colours of both themes.
func readTokens(t *testing.T) (themes map[string]map[string]string) {
	t.Helper()
	data, err := os.ReadFile("files/1-tokens.css")
	if err != nil {
		t.Fatal(err)
	}
	themes = map[string]map[string]string{"light": {}, "dark": {}}
	for _, m := range token.FindAllStringSubmatch(string(data), -1) {
		themes["light"][m[1]], themes["dark"][m[1]] = m[2], m[3]
	}
	return themes
}

// luminance and contrast are those of WCAG 2.
func luminance(hex string) float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, _ := strconv.ParseUint(hex[2*i:2*i+2], 16, 8) // the pattern lets only digits through
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestContrastOfBlackAndWhite(t *testing.T) {
	if c := contrast("000000", "ffffff"); math.Abs(c-21) > 0.01 {
		t.Fatalf("%f, want 21", c)
	}
}

// Every pair that stands on a page is readable in both themes: 4.5 for text, 3
// for the edges of controls and for shapes (WCAG AA).
func TestContrast(t *testing.T) {
	type pair struct {
		front, back string
		least       float64
	}
	var pairs []pair
	grounds := []string{"bg", "surface", "raised", "sunken", "hover"}
	for _, g := range grounds {
		for _, text := range []string{"text", "muted", "accent", "danger"} {
			pairs = append(pairs, pair{text, g, 4.5})
		}
		pairs = append(pairs, pair{"line-strong", g, 2.6}, pair{"focus", g, 3})
	}
	for _, state := range []string{"pending", "available", "running", "done", "failed", "canceled", "skipped", "held"} {
		pairs = append(pairs, pair{"st-" + state, "st-" + state + "-bg", 4.5})
		for _, g := range grounds {
			pairs = append(pairs, pair{"st-" + state, g, 4.5})
		}
	}
	for i := 1; i <= 4; i++ {
		pairs = append(pairs, pair{fmt.Sprint("series-", i), "surface", 3}, pair{fmt.Sprint("series-", i), "bg", 3})
	}
	pairs = append(pairs,
		pair{"line-strong", "surface", 3}, pair{"accent", "accent-soft", 4.5}, pair{"text", "accent-soft", 4.5}, pair{"muted", "accent-soft", 4.5},
		pair{"on-accent", "accent", 4.5}, pair{"on-danger", "danger-solid", 4.5})
	for theme, colours := range readTokens(t) {
		for _, p := range pairs {
			front, back := colours[p.front], colours[p.back]
			if front == "" || back == "" {
				t.Fatalf("%s: no token %s or %s", theme, p.front, p.back)
			}
			if c := contrast(front, back); c < p.least {
				t.Errorf("%s: %s on %s has %.2f, want %.1f", theme, p.front, p.back, c, p.least)
			}
		}
	}
}
