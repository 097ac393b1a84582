package workspacecmd

import (
	"encoding/json"
	"strings"

	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/period"
	"github.com/weirhq/weir/internal/workspace"
)

// entrySays is what an entry of the log says beyond its kind: also what is wanted, and
// what was changed.
func entrySays(e workspace.Entry) string {
	switch {
	case e.Type == "wanted":
		var data struct{ Desired string }
		if json.Unmarshal(e.Data, &data) != nil {
			return e.Message
		}
		return strings.TrimSuffix(data.Desired+": "+e.Message, ": ")
	case e.Type == "changed":
		return changedWords(e.Data)
	case e.Message == string(e.Operation):
		return "" // it stands beside it
	}
	return e.Message
}

// changedWords is what a change has named.
func changedWords(raw json.RawMessage) string {
	var data map[string]*string
	if json.Unmarshal(raw, &data) != nil {
		return ""
	}
	var words []string
	if name, was := data["name"], data["was"]; name != nil && was != nil && *name != *was {
		words = append(words, "name "+*name+", before "+*was)
	}
	for _, field := range []string{"description", "image"} {
		text, named := data[field]
		switch {
		case !named:
		case text == nil || *text == "":
			words = append(words, "no "+field+" of its own")
		default:
			words = append(words, field+" "+*text)
		}
	}
	for _, field := range []string{"standby_ttl", "archive_ttl"} {
		if text, named := data[field]; named {
			words = append(words, field+" "+ttlWords(text))
		}
	}
	return strings.Join(words, "; ")
}

// ttlWords is a time as the database keeps it: none is that of the policy.
func ttlWords(text *string) string {
	if text == nil {
		return "as the policy says"
	}
	if d, err := period.Parse(strings.ReplaceAll(*text, " ", "")); err == nil {
		return command.Span(d)
	}
	return *text
}
