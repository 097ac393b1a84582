package fleetpages

import (
	"fmt"

	"github.com/a-h/templ"

	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// resultsView is what the runs of a job left, and the cases that failed.
type resultsView struct {
	rows          []fleet.Result
	cases         []fleet.FailedCase
	newest, older string
}

// casesShown is how many failed cases the page shows.
const casesShown = 50

func (w *pages) fleetJobResults(r *site.Request, store *fleet.Store, v fleetJobView) (templ.Component, error) {
	rows, err := store.Results(r.Context(), v.ID, fleet.UnitFilter{}, site.NamesPage(r))
	if err != nil {
		return nil, err
	}
	var list resultsView
	list.rows, list.newest, list.older = site.NamesPaged(r, rows, func(u fleet.Result) string { return fmt.Sprint(u.Unit) })
	if list.cases, err = store.Cases(r.Context(), v.ID, casesShown); err != nil {
		return nil, err
	}
	return fleetJobResultsTab(v, list), nil
}

// caseName is a case with its suite.
func caseName(c fleet.FailedCase) string {
	if c.Suite == "" {
		return c.Name
	}
	return c.Suite + "." + c.Name
}

func failedTests(t *fleet.Tests) int { return t.Failures + t.Errors }

// testCount is a count of the tests of a run; it is empty if the run left no JUnit file.
func testCount(u fleet.Result, of func(*fleet.Tests) int) string {
	if u.Tests == nil {
		return "–"
	}
	return ui.Number(of(u.Tests))
}
