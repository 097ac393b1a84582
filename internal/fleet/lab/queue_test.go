package lab

import (
	"container/heap"
	"time"
)

// event is something that happens at a time of the lab.
type event struct {
	at time.Duration
	// nth orders events of the same time: first come, first served.
	nth int
	do  func()
}

// queue contains the next events.
type queue struct {
	events []event
	nth    int
}

func (q *queue) Len() int { return len(q.events) }

func (q *queue) Less(i, j int) bool {
	a, b := q.events[i], q.events[j]
	return a.at < b.at || a.at == b.at && a.nth < b.nth
}

func (q *queue) Swap(i, j int) { q.events[i], q.events[j] = q.events[j], q.events[i] }
func (q *queue) Push(x any)    { q.events = append(q.events, x.(event)) }

func (q *queue) Pop() any {
	last := q.events[len(q.events)-1]
	q.events = q.events[:len(q.events)-1]
	return last
}

// in schedules an event after a while.
func (l *lab) in(d time.Duration, do func()) {
	l.queue.nth++
	heap.Push(&l.queue, event{l.now + max(d, time.Millisecond), l.queue.nth, do})
}

// next runs the next event. No two events have the same time, because ids of the database
// are ordered by their millisecond, and a run without an order could not be repeated.
func (l *lab) next() {
	e := heap.Pop(&l.queue).(event)
	l.advance(max(e.at.Truncate(time.Millisecond), l.now+time.Millisecond))
	told := l.told
	e.do()
	if l.told > told {
		l.hint()
	}
	l.meter.settle(l)
}

// between returns a random duration.
func (l *lab) between(least, most time.Duration) time.Duration {
	return least + time.Duration(l.dice.Int64N(int64(most-least)))
}

// chance returns true with probability p.
func (l *lab) chance(p float64) bool { return l.dice.Float64() < p }

// every schedules an event now and at each interval.
func (l *lab) every(apart time.Duration, do func()) {
	do()
	l.in(apart, func() { l.every(apart, do) })
}

// often schedules an event repeatedly at random, with the given average distance. Zero
// means never.
func (l *lab) often(apart time.Duration, do func()) {
	if apart <= 0 {
		return
	}
	var again func()
	again = func() {
		if l.now < l.length {
			do()
			l.in(time.Duration(l.dice.ExpFloat64()*float64(apart)), again)
		}
	}
	l.in(time.Duration(l.dice.ExpFloat64()*float64(apart)), again)
}
