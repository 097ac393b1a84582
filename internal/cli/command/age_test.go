package command

import "testing"

func TestInterval(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "00:10:00": "10m", "00:09:59": "9m59s", "01:30:00": "1h30m", "00:00:01.5": "1.5s", "2 days": "2d", "1 day 01:00:00": "25h", "1 mon": "1 mon",
	} {
		if got := Interval(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
