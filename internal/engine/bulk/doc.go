// Package bulk does the same to every task or job that a filter finds. Commands,
// the API and the dashboard all go through it.
//
//	filter ─► view: a page of ids, newest first ─► one command each ─► changed
//	  ▲                                              │                 moved: another state meanwhile
//	  └──── next, until it is empty ◄────────────────┘                 refused, with the reason
//	                                                      and one event of kind bulk for the call
//
// Promises:
//   - A filter that is empty is refused: nobody means every task there is.
//   - One call does a bounded number of things in a bounded time and says where to
//     go on. What was made after the first call is not looked at.
//   - Each thing changes in a transaction of its own, by the same function as when
//     a person does it alone: what is refused there is refused here, and hinders
//     no other.
//   - It can be done again: what has changed either matches no more or is changed
//     to what it is.
//   - A look (DryRun) counts and shows some, and changes nothing.
package bulk
