// Package report holds the results of a run and shows them twice: as tables for people
// and as JSON for programs.
//
// A scenario adds Sections (what to print) and figures (what to compare). Goals are
// judged on figures by name, after all scenarios ran, so a goal may combine the figures
// of several. A figure that was not measured is absent, never zero.
package report
