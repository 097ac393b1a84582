// Package locale has the words of the dashboard in several languages, and those that the
// proxy shows in place of a workspace.
//
//	cookie weir_language ─┐
//	Accept-Language ──────┴─► Pick ──► Words ──► With(ctx) ──► say(ctx, "board.approve")
//
// The guard of package web picks once for every request, so a page only says. Names of codes
// (states, gates, kinds, types of events) have keys that end in the code: see ui.Code.
//
// A language is a file: en.json is what all others are measured by, ko.json is
// Korean. A key that a language lacks is said in English, and tests find it: one compares the
// files, one walks over every page in Korean with a browser (web.TestBrowserKorean).
// What a store says (causes, refusals, answers, the help of settings) is still English
// everywhere; on pages it has the attribute data-said.
//
// How to add a language: copy en.json to xx.json, translate the values, and put
// its own name under "language". Nothing else names it.
package locale
