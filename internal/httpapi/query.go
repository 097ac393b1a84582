package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
)

// queryOf reads the parameters of a request that no typed handler reads. Like those, it
// refuses unknown parameters, because a misspelled filter must not be ignored.
func queryOf(r *http.Request, known ...string) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, problem.Refuse("query", "escape what is not a letter or digit", "%v", err)
	}
	for name, list := range values {
		if !slices.Contains(known, name) {
			return nil, problem.Refuse(name, "there are "+strings.Join(known, ", "), "is not a field here")
		}
		if len(list) > 1 {
			return nil, problem.Refuse(name, "give it once", "is given more than once")
		}
	}
	return values, nil
}

// named returns the id that the text in a field refers to. A text that is no id is
// refused by the field's name.
func (*API) named(ctx context.Context, field string, find func(context.Context, string) (weir.ID, error), text string) (weir.ID, error) {
	id, err := find(ctx, text)
	if errors.Is(err, weir.ErrInvalid) {
		p := *problem.Explain(err)
		p.Field = field
		return id, &p
	}
	return id, err
}
