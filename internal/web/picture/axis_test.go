package picture

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTicksReadWell(t *testing.T) {
	for _, c := range []struct {
		length time.Duration
		want   []string
	}{
		{40 * time.Millisecond, []string{"12:00:00.000", "12:00:00.010", "12:00:00.020", "12:00:00.030", "12:00:00.040"}},
		{time.Minute, []string{"12:00:00", "12:00:10", "12:00:20", "12:00:30", "12:00:40", "12:00:50", "12:01:00"}},
		{24 * time.Hour, []string{"12:00", "15:00", "18:00", "21:00", "6 Mar", "03:00", "06:00", "09:00", "12:00"}},
		{6 * day, []string{"6 Mar", "7 Mar", "8 Mar", "9 Mar", "10 Mar", "11 Mar"}},
	} {
		var got []string
		for _, k := range newSpan(noon, noon.Add(c.length), 0, 600).ticks(lang) {
			got = append(got, k.label)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %v", c.length, got)
		}
	}
}

func TestLabelsHaveRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := time.Duration(rapid.Int64Range(0, int64(200*364*day)).Draw(t, "length"))
		s := newSpan(noon, noon.Add(length), 0, rapid.Float64Range(100, 2000).Draw(t, "width"))
		ticks := s.ticks(lang)
		for i := 1; i < len(ticks); i++ {
			if apart := s.at(ticks[i].at) - s.at(ticks[i-1].at); apart < textWidth(ticks[i-1].label, sizeSmall) {
				t.Fatalf("%q stands %.1f before %q", ticks[i-1].label, apart, ticks[i].label)
			}
		}
	})
}
