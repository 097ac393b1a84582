package junit

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	const text = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites><testsuite name="camera" tests="99"><properties><property name="x" value="y"/></properties>
  <testcase classname="cam.Open" name="opens" time="1.5"/>
  <testcase classname="cam.Open" name="closes" time="1,000.5"><failure message="stays open">line <![CDATA[<1>]]></failure></testcase>
  <testcase name="broken"><error type="X"/><failure message="the first counts"/></testcase>
  <testcase name="later"><skipped/><system-out>error</system-out></testcase>
  <testsuite><testcase name="deep" time="NaN"/></testsuite>
</testsuite></testsuites>`
	got, err := Parse([]byte(text))
	want := Report{Tests: 5, Failures: 1, Errors: 1, Skipped: 1, Seconds: 1002, Failed: []Case{
		{Suite: "cam.Open", Name: "closes", Kind: "failure", Message: "stays open\nline <1>"}, {Name: "broken", Kind: "error"},
	}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v %v", got, err)
	}
}

// A report comes from foreign code: what would cost much is refused or cut.
func TestHostile(t *testing.T) {
	many := func(n int, s string) string { return strings.Repeat(s, n) }
	for name, c := range map[string]struct{ text, says string }{
		"empty":       {"", "no testsuite"},
		"no xml":      {"tests: 1", "no testsuite"},
		"another":     {"<html/>", `root is "html"`},
		"cut off":     {"<testsuite><testcase", "not XML"},
		"entity bomb": {`<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><testsuite><testcase name="&b;"/></testsuite>`, "document type"},
		"file":        {`<!DOCTYPE x SYSTEM "file:///etc/passwd"><testsuite/>`, "document type"},
		"entity":      {`<testsuite><testcase name="&b;"/></testsuite>`, "not XML"},
		"encoding":    {`<?xml version="1.0" encoding="UTF-7"?><testsuite/>`, "not XML"},
		"zero":        {`<testsuite><testcase name="&#0;"/></testsuite>`, "not XML"},
		"deep":        {many(100, "<testsuite>"), "deeper than"},
		"large":       {"<testsuite>" + many(BytesMost, " ") + "</testsuite>", "over 10 MB"},
		"many":        {"<testsuite>" + many(CasesMost+1, "<testcase/>") + "</testsuite>", "cases"},
	} {
		if got, err := Parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
	long := fmt.Sprintf(`<testcase name="%s"><failure message="%s">%s</failure></testcase>`, many(900, "é"), many(900, "é"), many(900, "é"))
	got, err := Parse([]byte("<testsuite>" + many(FailedMost+10, long) + "</testsuite>"))
	if err != nil || got.Failures != FailedMost+10 || len(got.Failed) != FailedMost {
		t.Fatalf("%d of %d kept: %v", len(got.Failed), got.Failures, err)
	}
	if c := got.Failed[0]; len(c.Name) != nameMost || len(c.Message) != messageMost || !strings.HasSuffix(c.Message, "é") {
		t.Errorf("%d %d", len(c.Name), len(c.Message))
	}
}

func TestNamed(t *testing.T) {
	for name, want := range map[string]bool{"junit.xml": true, "a/b/junit-2.xml": true, "TEST-x.xml": true, "x.xml": false, "junit/x.xml": false, "junit.txt": false} {
		if Named(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`<testsuite><testcase name="a"><failure/></testcase></testsuite>`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if r, err := Parse(text); err == nil && r.Failures+r.Errors+r.Skipped > r.Tests {
			t.Errorf("%+v", r)
		}
	})
}
