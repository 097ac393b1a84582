// Package locale has the words of pages in several languages: those of rollouts,
// databases, the fleet and workspaces on the dashboard, and those that the proxy shows in
// place of a workspace. The names of states above all, because people decide by them.
//
//	cookie weir_language ─┐
//	Accept-Language ──────┴─► Pick ──► Words ──► With(ctx) ──► say(ctx, "board.approve")
//
// A language is a file: en.json is what all others are measured by, ko.json is
// Korean. A key that a language lacks is said in English, and a test finds it.
// What a store says (causes, refusals, answers) is English everywhere.
//
// How to add a language: copy en.json to xx.json, translate the values, and put
// its own name under "language". Nothing else names it.
package locale
