package flowpages

import "testing"

func TestSpecWords(t *testing.T) {
	for spec, want := range map[string]string{
		"@every 1m": "every minute", "@every 90s": "every 1m30s", "@every 10m": "every 10 minutes", "@every 2h": "every 2 hours", "@every 1s": "every second",
		"@every soon": "", "@every 1ms": "", "@hourly": "every hour", "@daily": "at 00:00 each day, UTC", "@weekly": "at 00:00 each Sunday, UTC",
		"@monthly": "at 00:00 on day 1 of each month, UTC", "@yearly": "at 00:00 on 1 January, UTC", "* * * * *": "every minute", "*/15 * * * *": "every 15 minutes",
		"*/7 * * * *": "", "5 * * * *": "every hour, 5 minutes after", "1 * * * *": "every hour, 1 minute after", "0 */6 * * *": "every 6 hours", "0 */5 * * *": "",
		"30 7 * * 1-5": "at 07:30 from Monday to Friday, UTC", "30 7 * * 7": "at 07:30 each Sunday, UTC", "30 7 * * Wed": "at 07:30 each Wednesday, UTC",
		"0 0 15 * *": "at 00:00 on day 15 of each month, UTC", "0 3 * * *": "at 03:00 each day, UTC",
		// What is not simple is left as it is; the wrong words are worse than none.
		"0 3 1 * 1": "", "0,30 3 * * *": "", "0 3 * 6 *": "", "0 3 * * 1,3": "", "0 25 * * *": "", "0 3 * *": "", "": "", "often": "", "0 3 ? * *": "",
	} {
		if got := specWords(t.Context(), spec, "UTC"); got != want {
			t.Errorf("%q: %q, want %q", spec, got, want)
		}
	}
	if got := specWords(t.Context(), "0 3 * * *", "Europe/Budapest"); got != "at 03:00 each day, Europe/Budapest" {
		t.Errorf("got %q", got)
	}
}
