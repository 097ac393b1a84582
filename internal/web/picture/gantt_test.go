package picture

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func criticalNames(t *testing.T, in Timetable) []string {
	t.Helper()
	tt := &timetable{Timetable: in}
	tt.bounds()
	var names []string
	for _, i := range tt.critical() {
		names = append(names, in.Rows[i].Name)
	}
	return names
}

func TestCriticalPathFollowsTheNeedThatEndedLast(t *testing.T) {
	if got, want := criticalNames(t, timetableSmall()), []string{"unit-tests", "compile", "checkout"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := criticalNames(t, timetableLarge()), []string{"join", "frame-0399", "split"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestRowsThatNeedNothingHaveNoCriticalPath(t *testing.T) {
	in := timetableSmall()
	for i := range in.Rows {
		in.Rows[i].Needs = nil
	}
	if got := criticalNames(t, in); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestNowLineOnlyWhileSomethingRuns(t *testing.T) {
	in := timetableQuick()
	in.Now = in.Rows[0].Created.Add(time.Hour)
	if strings.Contains(string(Gantt(lang, in)), "pic-now") {
		t.Error("a job that has ended shows where now is")
	}
	if !strings.Contains(string(Gantt(lang, timetableSmall())), "pic-now") {
		t.Error("a job that runs does not show where now is")
	}
}

func TestGanttLeavesItsInputAlone(t *testing.T) {
	in := timetableSmall()
	in.Rows[0].Bars = append(in.Rows[0].Bars, Bar{Attempt: 2})
	Gantt(lang, in)
	if len(in.Rows[0].Bars) != 2 {
		t.Error("a bar without a start was taken out of the caller's rows")
	}
}

func TestGanttKeepsWhatMatters(t *testing.T) {
	in := timetableLarge()
	tt := &timetable{Timetable: in}
	tt.bounds()
	tt.choose()
	if len(tt.shown) != in.Limit || len(tt.more) != len(in.Rows)-in.Limit {
		t.Fatalf("%d rows shown, %d more", len(tt.shown), len(tt.more))
	}
	for i, r := range in.Rows {
		if (r.State == Failed || tt.onPath[i]) && !slices.Contains(tt.shown, i) {
			t.Errorf("%s is not shown", r.Name)
		}
	}
}
