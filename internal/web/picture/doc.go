// Package picture draws the dashboard's pictures as SVG. Every function is
// pure: values in, markup out, the same bytes for the same values. Nothing
// here knows a table, a page or the clock; "now" comes in with the values.
//
//	Graph ──► group equal siblings ──► layered.Place ──► boxes and curves ──► SVG
//	Timetable, Flow, Machines, Life … ─────────────────► shapes and words ──► SVG
//
// Contract of every picture:
//
//   - Any text may come in: markup, control characters, right-to-left, Korean.
//     It comes out escaped, measured and shortened to its place.
//   - Any number may come in: NaN, infinite, negative, times out of order.
//   - A state shows as colour and icon and word, never as colour alone.
//   - The root has <title> and <desc>, which say the picture in words. Its role
//     is img; with links inside it is group, because a screen reader cannot
//     reach a link inside an img.
//   - No id, no style attribute, no script: several pictures live in one page
//     under a policy that forbids inline style.
//   - A picture without data says so in words.
//
// # Stylesheet
//
// [CSS] goes into the stylesheet of the page as it is. Its colours are the
// tokens of the page, for light and dark alike:
//
//	--st-STATE --st-STATE-bg   a state's colour and its soft ground, for pending,
//	                           available, running, done, failed, canceled,
//	                           skipped and held (which expired attempts use)
//	--text --muted             words
//	--surface --sunken --hover grounds; surface is also the mark in a full icon
//	--line --line-strong       grid; edges and borders
//	--accent                   critical path, "now"
//	--series-1 --series-2      lines of a chart
//	--focus --font
//
// The classes of the pictures all start with pic-. A page may use two of them
// on its own elements: pic-STATE (pic-running …) sets --pic and --pic-bg to the
// colours of that state; pic-empty is a sentence in the place of a picture.
//
// A picture with text keeps it readable: it shrinks to four fifths of its own
// width and scrolls from there, and it grows by a third at most. A page that
// has more room asks for more by Width.
package picture
