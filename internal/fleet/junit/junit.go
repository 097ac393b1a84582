package junit

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The bounds of a report.
const (
	// BytesMost is how many bytes a report may have.
	BytesMost = 10 << 20
	// CasesMost is how many cases are counted, FailedMost how many failed ones are kept.
	CasesMost, FailedMost = 100_000, 200
	depthMost             = 32
	nameMost, messageMost = 300, 500
)

// Report is what a report says.
type Report struct {
	Tests    int     `json:"tests"`
	Failures int     `json:"failures"`
	Errors   int     `json:"errors"`
	Skipped  int     `json:"skipped"`
	Seconds  float64 `json:"seconds"`
	// Failed are the first cases that failed.
	Failed []Case `json:"failed,omitempty"`
}

// Case is a case that failed.
type Case struct {
	Suite string `json:"suite,omitempty"`
	Name  string `json:"name"`
	// Kind is failure, or error for a case that could not be judged.
	Kind    string `json:"kind"`
	Message string `json:"message,omitempty"`
}

// Named reports whether an artifact is taken for a report, by its name: junit.xml,
// junit-smoke.xml, TEST-camera.xml, in any folder.
func Named(name string) bool {
	base := path.Base(name)
	return strings.HasSuffix(base, ".xml") && (strings.HasPrefix(base, "junit") || strings.HasPrefix(base, "TEST-"))
}

// Parse reads a report. An error says what is wrong with it.
func Parse(text []byte) (Report, error) {
	if len(text) > BytesMost {
		return Report{}, fmt.Errorf("it is over %d MB", BytesMost>>20)
	}
	p := parser{tokens: xml.NewDecoder(bytes.NewReader(text))}
	if err := p.read(); err != nil {
		return Report{}, err
	}
	if !p.rooted {
		return Report{}, errors.New("it has no testsuite")
	}
	return p.report, nil
}

// parser is the state of a reading: the case it is in, and which of its children.
type parser struct {
	tokens *xml.Decoder
	report Report
	rooted bool
	depth  int
	// inside is the depth of the case, zero outside of one; within is that of its failure.
	inside, within int
	current        Case
	skipped        bool
}

func (p *parser) read() error {
	for {
		token, err := p.tokens.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("it is not XML: %w", err)
		}
		switch t := token.(type) {
		case xml.Directive:
			return errors.New("it has a document type, which is refused")
		case xml.StartElement:
			if err := p.begin(t); err != nil {
				return err
			}
		case xml.CharData:
			if p.within > 0 && len(p.current.Message) < messageMost {
				p.current.Message = clip(p.current.Message+string(t), messageMost)
			}
		case xml.EndElement:
			p.end()
		}
	}
}

func (p *parser) begin(t xml.StartElement) error {
	if p.depth++; p.depth > depthMost {
		return fmt.Errorf("it is nested deeper than %d elements", depthMost)
	}
	name := t.Name.Local
	switch {
	case p.depth == 1 && name != "testsuites" && name != "testsuite":
		return fmt.Errorf("its root is %q and not testsuites", clip(name, 50))
	case p.depth == 1:
		p.rooted = true
	case p.inside == 0 && name == "testcase":
		if p.report.Tests++; p.report.Tests > CasesMost {
			return fmt.Errorf("it has over %d cases", CasesMost)
		}
		p.inside, p.skipped = p.depth, false
		p.current = Case{Suite: clip(attribute(t, "classname"), nameMost), Name: clip(attribute(t, "name"), nameMost)}
		seconds, err := strconv.ParseFloat(strings.ReplaceAll(attribute(t, "time"), ",", ""), 64)
		if err == nil && seconds > 0 && !math.IsInf(seconds, 0) && seconds < 1e9 {
			p.report.Seconds += seconds
		}
	case p.inside > 0 && p.depth == p.inside+1 && name == "skipped":
		p.skipped = true
	case p.inside > 0 && p.depth == p.inside+1 && p.current.Kind == "" && (name == "failure" || name == "error"):
		p.within, p.current.Kind = p.depth, name
		if said := attribute(t, "message"); said != "" {
			p.current.Message = clip(said+"\n", messageMost)
		}
	}
	return nil
}

func (p *parser) end() {
	switch p.depth {
	case p.within:
		p.within = 0
		p.current.Message = strings.TrimSpace(p.current.Message)
	case p.inside:
		p.inside = 0
		p.count()
	}
	p.depth--
}

// count adds the case that has ended.
func (p *parser) count() {
	switch {
	case p.current.Kind == "failure":
		p.report.Failures++
	case p.current.Kind == "error":
		p.report.Errors++
	case p.skipped:
		p.report.Skipped++
		return
	default:
		return
	}
	if len(p.report.Failed) < FailedMost {
		p.report.Failed = append(p.report.Failed, p.current)
	}
}

func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// clip cuts text to at most most bytes, between characters.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
