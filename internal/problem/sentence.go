package problem

import (
	_ "embed" // for the sentences of other languages
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/refusal"
)

//go:embed ko.json
var korean []byte

// languages are the sentences of other languages, by the pattern in English.
var languages = map[string]map[string]string{"ko": readWords(korean)}

func readWords(text []byte) map[string]string {
	var words map[string]string
	if err := json.Unmarshal(text, &words); err != nil {
		panic(fmt.Sprintf("read the sentences of problems: %v", err)) // a programming error: a test reads them too
	}
	return words
}

// Sentence returns what is wrong, without the field.
func (p *Problem) Sentence() string {
	if p.Pattern == "" {
		return strings.TrimPrefix(p.What, p.Field+": ")
	}
	return refusal.At(p.part, fmt.Sprintf(p.Pattern, p.Args...))
}

// At returns the same refusal for another field, the name that a face uses.
func (p *Problem) At(field string) *Problem {
	moved := *p
	moved.Field, moved.What = field, refusal.At(field, p.Sentence())
	return &moved
}

// Below returns the refusal of a part of the input as one of that part: the field begins
// below path. A refusal of another part is unchanged.
func (p *Problem) Below(path string) *Problem {
	if field, ok := strings.CutPrefix(p.Field, path+"."); ok {
		return p.At(field)
	}
	return p
}

// Below turns a refusal of a part of the input into one of that part, for callers that
// gave nothing else. Other errors are unchanged.
func Below(err error, path string) error {
	if err == nil {
		return nil
	}
	p := Explain(err)
	if below := p.Below(path); below != p {
		return below
	}
	return err
}

// Within returns the same refusal for the field that stands for the whole: the sentence
// begins with the part.
func (p *Problem) Within(whole string) *Problem {
	if p.Field == whole {
		return p
	}
	moved := *p
	moved.Field, moved.part, moved.What = whole, p.Field, refusal.At(whole, refusal.At(p.Field, p.Sentence()))
	return &moved
}

// In returns the problem in another language. A text without a translation is unchanged.
func (p *Problem) In(language string) *Problem {
	words := languages[language]
	if words == nil {
		return p
	}
	said := *p
	if pattern, ok := words[p.Pattern]; ok {
		said.Pattern = pattern
		if noun, ok := words[p.noun()]; ok {
			said.Args = slices.Replace(slices.Clone(p.Args), 0, 1, any(noun))
		}
		said.What = refusal.At(p.Field, said.Sentence())
	}
	if next, ok := words[p.Next]; ok {
		said.Next = next
	} else if first, ok := strings.CutSuffix(p.Next, "; "+seeAll); ok && words[first] != "" {
		said.Next = words[first] + "; " + words[seeAll]
	}
	return &said
}

// Texts returns the arguments in the form for programs.
func (p *Problem) Texts() []string { return refusal.Texts(p.Args) }
