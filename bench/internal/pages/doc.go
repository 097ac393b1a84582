// Package pages fills a database with weeks of history and runs the queries of the
// dashboard's pages and of the API's lists against it.
//
// The history is written by plain SQL, because the engine would take an hour for it: jobs
// of three waves (a first task, those in the middle, a last one) and tasks without a job,
// all ended, each with the rows and events that the engine would have left. Live tasks
// are submitted and claimed through the engine itself. The doctor checks a small history,
// because figures of a database with a broken invariant would mean nothing.
//
//	weeks ago ◄───────────── jobs and tasks, evenly ──────────────► now
//	tasks_*  finished_*  jobs_*  job_finished_*  events_*     pending, available, running
//
// The history is not vacuumed, as in real use; it is analyzed.
package pages
