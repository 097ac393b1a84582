package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
)

// Report is one run of the benchmark.
type Report struct {
	Environment Environment `json:"environment"`
	// Figures are all single numbers by name: scenario.system.quantity.
	Figures  map[string]float64 `json:"figures"`
	Goals    []Verdict          `json:"goals"`
	Sections []Section          `json:"sections"`
	// Rounds are the raw measurements behind the figures.
	Rounds []any `json:"rounds"`
	// Headline is the last line of the output.
	Headline string `json:"headline"`
}

// Section is one table of the output.
type Section struct {
	Scenario string     `json:"scenario"`
	Title    string     `json:"title"`
	Notes    []string   `json:"notes,omitempty"`
	Header   []string   `json:"header"`
	Rows     [][]string `json:"rows"`
}

// New starts an empty report.
func New(environment Environment) *Report {
	return &Report{Environment: environment, Figures: map[string]float64{}}
}

// Figure records one number. A number that could not be measured (NaN) is left out.
func (r *Report) Figure(name string, value float64) {
	if !math.IsNaN(value) && !math.IsInf(value, 0) {
		r.Figures[name] = value
	}
}

// Value returns a figure, or NaN when it was not measured.
func (r *Report) Value(name string) float64 {
	if value, ok := r.Figures[name]; ok {
		return value
	}
	return math.NaN()
}

// headline returns the one line to remember of a run: Weir against River.
func (r *Report) headline() string {
	ratio := func(figure string) string {
		return Number(r.Value("queue2000.weir."+figure)/r.Value("queue2000.river."+figure), 2)
	}
	return fmt.Sprintf("queue: weir/river jobs_per_s=%s wal_per_job=%s at 2000 workers",
		ratio("jobs_per_s"), ratio("wal_per_job"))
}

// Finish judges the goals and forms the last line.
func (r *Report) Finish() {
	r.Goals = judge(r)
	r.Headline = r.headline()
}

// WriteJSON writes the whole report to a file.
func (r *Report) WriteJSON(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the report: %w", err)
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// Print writes a section as text.
func (s Section) Print(w io.Writer) {
	fmt.Fprintf(w, "\n%s\n", s.Title)
	for _, note := range s.Notes {
		fmt.Fprintf(w, "  %s\n", note)
	}
	if len(s.Rows) > 0 {
		fmt.Fprint(w, Table(s.Header, s.Rows))
	}
}

// Show prints a section with its goals beneath and keeps it. Its figures must be recorded
// before.
func (r *Report) Show(w io.Writer, s Section) {
	s.Print(w)
	for _, v := range judge(r) {
		if v.Scenario == s.Scenario && v.Result != notMeasured {
			fmt.Fprintf(w, "  goal: %s: %s, %s\n", v.Goal, v.Found, v.Result)
		}
	}
	r.Sections = append(r.Sections, s)
}

// PrintGoals writes the goals with their results.
func (r *Report) PrintGoals(w io.Writer) {
	rows := make([][]string, len(r.Goals))
	for i, v := range r.Goals {
		rows[i] = []string{v.Goal, v.Found, v.Result}
	}
	Section{Title: "Goals", Header: []string{"goal", "found", "result"}, Rows: rows}.Print(w)
}
