package httpapi

import (
	"bytes"
	_ "embed"
	"html/template"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/weirhq/weir/internal/problem"
)

//go:embed docs.html
var docsHTML string

//go:embed docs.css
var docsCSS []byte

// docsTemplate renders the reference page, without scripts and inline styles.
var docsTemplate = template.Must(template.New("docs").Parse(docsHTML))

// referencePage renders the document.
func referencePage(doc *huma.OpenAPI) ([]byte, error) {
	page := struct {
		Title, Version string
		Intro          []string
		Groups         []docsGroup
		Kinds          []problem.Kind
		Schemas        []docsSchema
	}{Title: doc.Info.Title, Version: doc.Info.Version, Intro: strings.Split(doc.Info.Description, "\n"), Kinds: problem.Kinds()}
	for i := range table {
		route := &table[i]
		op := operationAt(doc, route)
		if len(page.Groups) == 0 || page.Groups[len(page.Groups)-1].Name != route.tag() {
			page.Groups = append(page.Groups, docsGroup{Name: route.tag()})
		}
		group := &page.Groups[len(page.Groups)-1]
		group.Operations = append(group.Operations, docsOperation{route, op.Parameters, bodyOf(op), answerOf(op), op.Description})
	}
	for name, schema := range doc.Components.Schemas.Map() {
		page.Schemas = append(page.Schemas, docsSchema{name, fieldsOf(schema)})
	}
	slices.SortFunc(page.Schemas, func(a, b docsSchema) int { return strings.Compare(a.Name, b.Name) })
	var b bytes.Buffer
	err := docsTemplate.Execute(&b, page)
	return b.Bytes(), err
}

type docsGroup struct {
	Name       string
	Operations []docsOperation
}

type docsOperation struct {
	*Route
	Params      []*huma.Param
	Takes       docsType
	Answers     docsType
	Description string
}

// Full returns the whole path.
func (o docsOperation) Full() string { return prefix + o.Path }

type docsSchema struct {
	Name   string
	Fields []docsField
}

type docsField struct {
	Name, Description string
	Required          bool
	Type              docsType
}

// docsType describes a type in words, with the schema to link to, if it has one.
type docsType struct{ Words, Ref string }

func operationAt(doc *huma.OpenAPI, route *Route) *huma.Operation {
	item := doc.Paths[prefix+route.Path]
	switch route.Method {
	case get:
		return item.Get
	case post:
		return item.Post
	case put:
		return item.Put
	}
	return item.Delete
}

func bodyOf(op *huma.Operation) docsType {
	if op.RequestBody == nil {
		return docsType{}
	}
	return typeOf(op.RequestBody.Content["application/json"].Schema)
}

func answerOf(op *huma.Operation) docsType {
	for status, response := range op.Responses {
		if status[0] != '2' {
			continue
		}
		for kind, media := range response.Content {
			if kind != "application/json" {
				return docsType{Words: kind}
			}
			return typeOf(media.Schema)
		}
	}
	return docsType{}
}

func fieldsOf(s *huma.Schema) []docsField {
	var out []docsField
	for name, field := range s.Properties {
		out = append(out, docsField{name, field.Description, slices.Contains(s.Required, name), typeOf(field)})
	}
	slices.SortFunc(out, func(a, b docsField) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// typeOf describes a schema in words.
func typeOf(s *huma.Schema) docsType {
	switch {
	case s == nil:
		return docsType{}
	case s.Ref != "":
		name := s.Ref[strings.LastIndex(s.Ref, "/")+1:]
		return docsType{name, name}
	case s.Type == huma.TypeArray:
		t := typeOf(s.Items)
		return docsType{"list of " + t.Words, t.Ref}
	case s.Type == huma.TypeObject:
		if values, ok := s.AdditionalProperties.(*huma.Schema); ok {
			t := typeOf(values)
			return docsType{"map of " + t.Words, t.Ref}
		}
		return docsType{Words: "object"}
	case len(s.Enum) > 0:
		words := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			words[i], _ = v.(string)
		}
		return docsType{Words: strings.Join(words, " | ")}
	case s.Format == "date-time":
		return docsType{Words: "time"}
	case s.Type == "":
		return docsType{Words: "any JSON"}
	}
	return docsType{Words: s.Type}
}
