// Package scenarios proves what Weir promises, one behaviour a file.
//
// A file is a story: commands, a line of dashes, and what they answer. The
// runner plays it on a real PostgreSQL, with a clock that only the story moves,
// and ends with weir.doctor(). The files are also documentation: read them.
//
//	# Two tasks of a pool of one take turns.
//	pool press size=1
//	submit a pool=press
//	submit b pool=press
//	----
//	a: available
//	b: pending (pool)
//
// A command answers with what it says and then with every task that changed its
// state; ok when nothing did. After an intended change, write the answers again
// with: go test ./scenarios -rewrite
//
//	submit NAME [field=value …]      a task; the fields of weir.task_spec, times as 10s or 5m
//	job NAME                         a job; its tasks follow, one per line, indented: KEY [field=value …]
//	claim [service] [n=1] [worker=w] [lease=30s]
//	                                 lease the next tasks
//	renew NAME worker=w [lease=30s]  the worker is in contact
//	finish|return|confirm NAME       report on a lease: done, handed back, stopped as asked; NAME@WORKER: the last lease of that worker
//	return NAME "words" fault=no_driver   handed back, because its node is broken
//	broken NODE ["words" fault=no_driver] a node says what is broken on it, or that nothing is
//	fail NAME "error" [final] [retry=10s]
//	snooze NAME 10s
//	cancel|hold|release|retry NAME   by=somebody where it matters; cancel job NAME, retry job NAME
//	queue NAME [due=10s]             a job without tasks; add NAME builds it
//	add NAME                         tasks join a job; they follow as those of a job do
//	close NAME "reason"              a queued job that will not be built
//	plan NAME [run_at=10s] [hold=x]  what a task at the gate plan is
//	split NAME into A,B              it waits for these tasks of its job
//	decide NAME done|failed|skipped|passes "cause"
//	skip NAME "reason"
//	priority NAME 5
//	pool NAME size=1 | rate=1 per=1m | drop
//	node NAME [labels=k:v] [capacity=service:n] [mode=draining]
//	worker NAME services=a,b [node=n]
//	tick 30s                         let time pass, and tend the engine
//	why|events NAME, why job NAME, show   look
package scenarios
