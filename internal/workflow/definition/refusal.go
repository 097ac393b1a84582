package definition

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	kinds "github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/weirhq/weir/internal/pattern"
	"github.com/weirhq/weir/internal/problem"
)

// refuseParams describes what a schema refuses: which param below where, why, and what is
// allowed instead.
func refuseParams(where string, err error, schema map[string]any) error {
	if much, ok := errors.AsType[*pattern.Error](err); ok {
		return problem.Refuse(where, much.Next, "%s", much.What)
	}
	bad, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return fmt.Errorf("check the params: %w", err)
	}
	bad = leaf(bad)
	properties, _ := schema["properties"].(map[string]any)
	next := ""
	if at := bad.InstanceLocation; len(at) > 0 {
		property, _ := properties[at[0]].(map[string]any)
		if text, ok := property["description"].(string); ok {
			next = at[0] + ": " + text
		}
	} else if len(properties) > 0 {
		if extra, ok := bad.ErrorKind.(*kinds.AdditionalProperties); ok {
			next = Meant(extra.Properties[0], sortedKeys(properties))
		}
		if next == "" {
			next = "the params are " + list(marked(properties, schema["required"]))
		}
	}
	return problem.Refuse(strings.Join(append([]string{where}, bad.InstanceLocation...), "."), next, "%s", plainly(bad.ErrorKind))
}

// marked returns the names of params, with a mark on the required ones.
func marked(properties map[string]any, required any) []string {
	must, _ := required.([]any)
	names := sortedKeys(properties)
	for i, name := range names {
		for _, m := range must {
			if m == name {
				names[i] += " (required)"
			}
		}
	}
	return names
}

// leaf returns the first error without a cause below it, which is the one to fix.
func leaf(e *jsonschema.ValidationError) *jsonschema.ValidationError {
	for len(e.Causes) > 0 {
		e = e.Causes[0]
	}
	return e
}

// plainly describes an error in the words of the other messages.
func plainly(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kinds.Type:
		return fmt.Sprintf("expected %s, got %s", strings.Join(k.Want, " or "), k.Got)
	case *kinds.Required:
		return fmt.Sprintf("%s must be given", strings.Join(k.Missing, " and "))
	case *kinds.AdditionalProperties:
		return fmt.Sprintf("there is no %s", strings.Join(k.Properties, " and no "))
	case *kinds.Minimum:
		return fmt.Sprintf("%s is less than %s", rational(k.Got), rational(k.Want))
	case *kinds.Maximum:
		return fmt.Sprintf("%s is more than %s", rational(k.Got), rational(k.Want))
	case *kinds.ExclusiveMinimum:
		return fmt.Sprintf("%s is not more than %s", rational(k.Got), rational(k.Want))
	case *kinds.ExclusiveMaximum:
		return fmt.Sprintf("%s is not less than %s", rational(k.Got), rational(k.Want))
	case *kinds.MultipleOf:
		return fmt.Sprintf("%s is no multiple of %s", rational(k.Got), rational(k.Want))
	case *kinds.MinLength:
		return fmt.Sprintf("%d characters are fewer than %d", k.Got, k.Want)
	case *kinds.MaxLength:
		return fmt.Sprintf("%d characters are more than %d", k.Got, k.Want)
	case *kinds.MinItems:
		return fmt.Sprintf("%d items are fewer than %d", k.Got, k.Want)
	case *kinds.MaxItems:
		return fmt.Sprintf("%d items are more than %d", k.Got, k.Want)
	case *kinds.Enum:
		words := make([]string, len(k.Want))
		for i := range words {
			words[i] = show(k.Want[i])
		}
		return fmt.Sprintf("%s is not one of %s", clip(show(k.Got)), strings.Join(words, ", "))
	case *kinds.Pattern:
		return fmt.Sprintf("%q does not match %s", clip(k.Got), k.Want)
	default:
		return k.LocalizedString(message.NewPrinter(language.English))
	}
}

func rational(r *big.Rat) string {
	if r.IsInt() {
		return r.RatString()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}
