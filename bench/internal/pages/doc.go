// Package pages fills a database with weeks of somebody's work and asks of it
// what the pages of the dashboard and the lists of the API ask.
//
// The history is written by plain SQL, because the engine would take an hour
// for it: jobs of three waves (a first task, those in the middle, a last one)
// and tasks without a job, all ended, each with the rows and events that the
// engine would have left. What still lives is submitted and claimed through the
// engine itself. The doctor agrees with a small one: what breaks an invariant is no
// measure for anything.
//
//	weeks ago ◄───────────── jobs and tasks, evenly ──────────────► now
//	tasks_*  finished_*  jobs_*  job_finished_*  events_*     pending, available, running
//
// Nothing vacuums the history, as nothing does in real life; it is analysed.
package pages
