package definition

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// entry is a function as docs/functions.md shows it: what it is for, how a template and
// an expression call it, and what that gives.
type entry struct{ name, what, template, expression, gives string }

// reference is the table that the page is made of. Every example in it is evaluated.
var reference = []struct {
	title   string
	entries []entry
}{
	{"Dates", []entry{
		{"date", "Formats a time, by the layout of Go: 2006 is the year, 01 the month, 02 the day, 15:04:05 the time. With a zone: there.", `.job.scheduled_at | date "2006-01-02"`, `date(job.scheduled_at, "2006-01-02")`, `"2026-03-29"`},
		{"date", "", `.job.scheduled_at | date "15:04" "Asia/Tokyo"`, `date(job.scheduled_at, "15:04", "Asia/Tokyo")`, `"08:30"`},
		{"inZone", "The same instant in another place; a day without a zone becomes that day there.", `.job.scheduled_at | inZone "America/New_York"`, `inZone(job.scheduled_at, "America/New_York")`, `"2026-03-28T19:30:00-04:00"`},
		{"inZone", "", `.params.day | inZone "America/New_York"`, `inZone(params.day, "America/New_York")`, `"2026-07-10T00:00:00-04:00"`},
		{"addDays", "Days of the calendar: the time of day stays, also when clocks are set. Yesterday is -1.", `.job.scheduled_at | addDays -1 | date "2006-01-02"`, `date(addDays(job.scheduled_at, -1), "2006-01-02")`, `"2026-03-28"`},
		{"addMonths", "Months of the calendar. A day that the month does not have is its last.", `.params.last | addMonths 1 | date "2006-01-02"`, `date(addMonths(params.last, 1), "2006-01-02")`, `"2026-02-28"`},
		{"addHours", "Hours that pass, whatever the clocks do.", `.job.scheduled_at | addHours 2`, `addHours(job.scheduled_at, 2)`, `"2026-03-29T03:30:00+02:00"`},
		{"addMinutes", "Minutes that pass.", `.job.scheduled_at | addMinutes -31`, `addMinutes(job.scheduled_at, -31)`, `"2026-03-28T23:59:00+01:00"`},
		{"startOfDay", "The first moment of the day.", `.job.scheduled_at | startOfDay`, `startOfDay(job.scheduled_at)`, `"2026-03-29T00:00:00+01:00"`},
		{"startOfWeek", "The Monday.", `.job.scheduled_at | startOfWeek | date "2006-01-02"`, `date(startOfWeek(job.scheduled_at), "2006-01-02")`, `"2026-03-23"`},
		{"startOfMonth", "The first of the month.", `.job.scheduled_at | startOfMonth | date "2006-01-02"`, `date(startOfMonth(job.scheduled_at), "2006-01-02")`, `"2026-03-01"`},
		{"startOfYear", "The first of January.", `.job.scheduled_at | startOfYear | date "2006-01-02"`, `date(startOfYear(job.scheduled_at), "2006-01-02")`, `"2026-01-01"`},
	}},
	{"Text", []entry{
		{"upper", "Capitals.", `.params.name | upper`, `upper(params.name)`, `"ANNA"`},
		{"lower", "Small letters.", `.params.name | lower`, `lower(params.name)`, `"anna"`},
		{"trim", "Without spaces at both ends.", `" a " | trim`, `trim(" a ")`, `"a"`},
		{"replace", "Every place of a text by another.", `.params.name | replace "n" "m"`, ``, `"Amma"`},
		{"split", "A list of the parts.", `.params.text | split ","`, `split(params.text, ",")`, `["a","b"]`},
		{"join", "One text of a list.", `.params.tags | join "+"`, `join(params.tags, "+")`, `"a+b"`},
		{"hasPrefix", "Whether it begins so.", ``, `hasPrefix(params.name, "An")`, `true`},
		{"hasSuffix", "Whether it ends so.", ``, `hasSuffix(params.name, "An")`, `false`},
		{"base", "The name of a file in a path.", `.params.file | base`, ``, `"a.tar.gz"`},
		{"dir", "The folder of a path.", `.params.file | dir`, ``, `"raw"`},
		{"ext", "The ending of a file.", `.params.file | ext`, ``, `".gz"`},
		{"stem", "The name of a file without its ending.", `.params.file | stem`, ``, `"a.tar"`},
	}},
	{"Numbers", []entry{
		{"add", "Templates have no operators; expressions have `+ - * / % **`.", `add .params.n 1`, `params.n + 1`, `8`},
		{"sub", "", `sub .params.n 1`, `params.n - 1`, `6`},
		{"mul", "", `mul .params.n 2`, `params.n * 2`, `14`},
		{"div", "", `div .params.n 2`, `params.n / 2`, `3.5`},
		{"mod", "The rest of a division.", `mod .params.n 2`, `params.n % 2`, `1`},
		{"min", "The least.", ``, `min(params.list)`, `1`},
		{"max", "The greatest.", ``, `max(3, params.n)`, `7`},
		{"sum", "The sum of a list, or of what is asked of each item.", ``, `sum(params.rows, #.size)`, `4`},
		{"abs", "Without its sign.", ``, `abs(-3)`, `3`},
		{"ceil", "Up to a whole number.", ``, `ceil(1.2)`, `2`},
		{"floor", "Down to a whole number.", ``, `floor(1.8)`, `1`},
		{"round", "To the next whole number.", ``, `round(1.5)`, `2`},
		{"int", "A whole number of a text.", `"12" | int`, `int("12")`, `12`},
		{"float", "A number of a text.", ``, `float("1.5")`, `1.5`},
	}},
	{"Lists and mappings", []entry{
		{"len", "How many items, keys or characters.", `.params.list | len`, `len(params.list)`, `3`},
		{"first", "The first item.", `.params.list | first`, `first(params.list)`, `3`},
		{"last", "The last item.", `.params.list | last`, `last(params.list)`, `2`},
		{"index", "An item by number or key.", `index .params.list 1`, `params.list[1]`, `1`},
		{"get", "A value, or nothing if there is none.", ``, `get(params.rows[0], "x") ?? "none"`, `"none"`},
		{"keys", "The keys, sorted.", ``, `keys(params.rows[0])`, `["os","size"]`},
		{"values", "The values, in the order of the keys.", ``, `values(params.rows[0])`, `["linux",3]`},
		{"flatten", "The lists of a list as one, one level of them.", `.params.lists | flatten`, `flatten(params.lists)`, `[1,2,3]`},
		{"flatten", "Every pair of two lists; `map: {matrix: …}` does it for a step.", ``, `flatten(map(params.tags, let t = #; map(1..2, t + string(#))))`, `["a1","a2","b1","b2"]`},
		{"concat", "Lists one behind the other.", ``, `concat(params.list, params.tags)`, `[3,1,2,"a","b"]`},
		{"sort", "In order.", ``, `sort(params.list)`, `[1,2,3]`},
		{"sortBy", "In the order of what is asked of each item.", ``, `map(sortBy(params.rows, #.size), #.os)`, `["mac","linux"]`},
		{"reverse", "From the end.", ``, `reverse(params.list)`, `[2,1,3]`},
		{"uniq", "Each item once.", ``, `uniq([1, 2, 1])`, `[1,2]`},
		{"filter", "The items for which it is true. `#` is the item.", ``, `filter(params.list, # > 1)`, `[3,2]`},
		{"map", "What is made of each item. A mapping is in parentheses.", ``, `map(params.tags, ({name: #}))`, `[{"name":"a"},{"name":"b"}]`},
		{"find", "The first item for which it is true.", ``, `find(params.list, # < 3)`, `1`},
		{"findIndex", "Its number, from 0; -1 if there is none.", ``, `findIndex(params.list, # < 3)`, `1`},
		{"count", "For how many it is true.", ``, `count(params.list, # > 1)`, `2`},
		{"all", "Whether it is true for all.", ``, `all(params.list, # > 0)`, `true`},
		{"any", "Whether it is true for one at least.", ``, `any(params.list, # > 2)`, `true`},
		{"none", "Whether it is true for none.", ``, `none(params.list, # > 5)`, `true`},
		{"one", "Whether it is true for exactly one.", ``, `one(params.list, # > 2)`, `true`},
		{"groupBy", "A mapping of lists.", ``, `keys(groupBy(params.rows, #.os))`, `["linux","mac"]`},
	}},
	{"Values", []entry{
		{"default", "Another value if it is missing or empty. Expressions have `??`.", `.params.none | default "a"`, `params?.none ?? "a"`, `"a"`},
		{"string", "As text.", `.params.n | string`, `string(params.n)`, `"7"`},
		{"json", "As JSON.", `.params.list | json`, ``, `"[3,1,2]"`},
		{"toJSON", "As JSON.", ``, `toJSON(params.list)`, `"[3,1,2]"`},
		{"fromJSON", "A value of JSON text.", ``, `fromJSON("[1]")`, `[1]`},
	}},
}

func referenceData(t *testing.T) map[string]any {
	zone, err := time.LoadLocation("Europe/Budapest")
	if err != nil {
		t.Fatal(err)
	}
	params := `{"name": "Anna", "file": "raw/a.tar.gz", "list": [3, 1, 2], "tags": ["a", "b"], "lists": [[1, 2], [3]], "n": 7, "text": "a,b",
		"rows": [{"os": "linux", "size": 3}, {"os": "mac", "size": 1}], "day": "2026-07-10", "last": "2026-01-31"}`
	var of any
	if err := json.Unmarshal([]byte(params), &of); err != nil {
		t.Fatal(err)
	}
	return map[string]any{
		"params": tidy(of),
		"job":    map[string]any{"scheduled_at": moment{Time: time.Date(2026, 3, 29, 0, 30, 0, 0, zone)}},
	}
}

var rewriteReference = flag.Bool("rewrite-reference", false, "write docs/functions.md again")

// TestReference evaluates every example of docs/functions.md, and checks that the page has
// every function and is the one that the table makes.
func TestReference(t *testing.T) {
	env, seen := referenceData(t), map[string]bool{}
	var page strings.Builder
	page.WriteString(referenceHead)
	for _, group := range reference {
		fmt.Fprintf(&page, "\n## %s\n| | in a template | in an expression | gives |\n|---|---|---|---|\n", group.title)
		for _, e := range group.entries {
			inTemplate, inExpression := "", ""
			if e.template != "" {
				seen["template "+e.name] = true
				inTemplate = "`{{ " + e.template + " }}`"
				tpl, err := parseTemplate("{{ " + e.template + " }}")
				if err != nil {
					t.Errorf("%s: %v", e.template, err)
					continue
				}
				if v, err := tpl.render(env, newBudget()); err != nil || string(encode(v)) != e.gives {
					t.Errorf("%s: %s, %v; want %s", e.template, encode(v), err, e.gives)
				}
			}
			if e.expression != "" {
				seen["expression "+e.name] = true
				inExpression = "`" + e.expression + "`"
				x, err := parseExpression(e.expression)
				if err != nil {
					t.Errorf("%s: %v", e.expression, err)
					continue
				}
				if v, err := x.evaluate(env); err != nil || string(encode(v)) != e.gives {
					t.Errorf("%s: %s, %v; want %s", e.expression, encode(v), err, e.gives)
				}
			}
			escape := strings.NewReplacer("|", `\|`)
			fmt.Fprintf(&page, "| **%s** %s | %s | %s | `%s` |\n", e.name, e.what, escape.Replace(inTemplate), inExpression, e.gives)
		}
	}
	for _, name := range slices.Concat(sortedKeys(plainBuiltins), sortedKeys(loopBuiltins)) {
		if !seen["expression "+name] {
			t.Errorf("docs/functions.md has no example of %s in an expression", name)
		}
	}
	for _, name := range sortedKeys(functions) {
		if !seen["template "+name] {
			t.Errorf("docs/functions.md has no example of %s in a template", name)
		}
	}
	const file = "../../../docs/functions.md"
	if *rewriteReference {
		if err := os.WriteFile(file, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if was, err := os.ReadFile(file); err != nil || string(was) != page.String() {
		t.Errorf("docs/functions.md is old (%v): go test ./internal/workflow/definition -run Reference -rewrite-reference", err)
	}
}

const referenceHead = `# Functions of templates and expressions

A template is ` + "`{{ … }}`" + ` in any text of a step, with a dot before each value and ` + "`|`" + ` before each function. An expression is ` + "`when`" + `, ` + "`map.over`" + ` and the
axes of ` + "`map.matrix`" + `, without dots in front and without braces. [Workflows](workflows.md) has what they can read. Every example of this page is evaluated
by a test, with a job of 29 March 2026, 00:30 in Budapest, one and a half hours before clocks are set forward there, and these params:

` + "```yaml" + `
name: Anna
file: raw/a.tar.gz
list: [3, 1, 2]
tags: [a, b]
lists: [[1, 2], [3]]
n: 7
text: a,b
rows: [{os: linux, size: 3}, {os: mac, size: 1}]
day: "2026-07-10"
last: "2026-01-31"
` + "```" + `

Operators of expressions: ` + "`== != < > <= >= && || not in contains startsWith endsWith matches + - * / % ** .. ?: ?? ?.`" + `, and ` + "`let x = …; …`" + `.
`
