package op

import (
	"encoding"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Place is the part of a request in which a value of an input travels.
type Place int

// The places.
const (
	// Path is a part of the route, and an argument of the command.
	Path Place = iota
	// Query is a parameter of the address, and a flag.
	Query
	// Header is a header, which a command or a page sets itself.
	Header
	// Body is a field of the body, and a flag.
	Body
)

// tags are the struct tags that name a value in its place.
var tags = [...]string{Path: "path", Query: "query", Header: "header"}

// Field is one value of an input.
type Field struct {
	Place Place
	// Name is the field's name in the API, Flag the one on the command line: the name of
	// an argument, in capitals, or of a flag. Short is one letter for the flag, or empty.
	Name, Flag, Short string
	// Doc is its description.
	Doc string
	// Enum are the allowed values; empty means any. Least and Most bound a number.
	Enum        []string
	Least, Most int
	// Required means that it must not be left out or empty.
	Required bool
	// Type is the type of its value.
	Type reflect.Type

	index []int
}

// Fields returns the values of an input, a pointer to a struct, in their order.
func Fields(in any) []Field { return fields(reflect.TypeOf(in).Elem(), nil, false) }

func fields(t reflect.Type, at []int, body bool) (all []Field) {
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(append([]int(nil), at...), i)
		switch {
		case f.Name == "Body" && !body:
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			all = append(all, fields(inner, index, true)...)
		case f.Anonymous:
			all = append(all, fields(f.Type, index, body)...)
		default:
			all = append(all, field(f, index, body))
		}
	}
	return all
}

func field(f reflect.StructField, index []int, body bool) Field {
	out := Field{Doc: f.Tag.Get("doc"), Type: f.Type, index: index}
	out.Least, out.Most = bound(f, "minimum", math.MinInt), bound(f, "maximum", math.MaxInt)
	if words := f.Tag.Get("enum"); words != "" {
		out.Enum = strings.Split(words, ",")
	}
	if body {
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		out.Place, out.Name, out.Required = Body, name, !strings.HasPrefix(option, "omit")
	}
	for place, tag := range tags {
		if name, _, _ := strings.Cut(f.Tag.Get(tag), ","); name != "" {
			out.Place, out.Name, out.Required = Place(place), name, Place(place) == Path
		}
	}
	if out.Flag, out.Short, _ = strings.Cut(f.Tag.Get("flag"), ","); out.Flag == "" {
		out.Flag = strings.ReplaceAll(out.Name, "_", "-")
	}
	return out
}

// bound returns a limit of a number.
func bound(f reflect.StructField, tag string, none int) int {
	if n, err := strconv.Atoi(f.Tag.Get(tag)); err == nil {
		return n
	}
	return none
}

// Emptied reports whether an empty text is a value, which removes what was there. A number
// or a boolean has no such value.
func (f Field) Emptied() bool {
	t := f.Plain()
	return t != reflect.TypeFor[int]() && t != reflect.TypeFor[int64]() && t.Kind() != reflect.Bool
}

// Get reads the value of an input. A value of a body that was left out is zero.
func (f Field) Get(in any) any {
	v := reflect.ValueOf(in).Elem()
	for _, i := range f.index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return reflect.Zero(f.Type).Interface()
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v.Interface()
}

// Set writes the value of an input.
func (f Field) Set(in, value any) {
	v := reflect.ValueOf(in).Elem()
	for _, i := range f.index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	v.Set(reflect.ValueOf(value).Convert(f.Type))
}

// Arg reports whether the command line takes it as an argument.
func (f Field) Arg() bool { return f.Flag != "" && f.Flag == strings.ToUpper(f.Flag) }

// Optional reports whether leaving it out differs from its zero value.
func (f Field) Optional() bool { return f.Type.Kind() == reflect.Pointer }

// Plain returns the type of its value, without the pointer of an optional one.
func (f Field) Plain() reflect.Type {
	if f.Optional() {
		return f.Type.Elem()
	}
	return f.Type
}

// Parse sets the value from typed text; a list gets one more element. It refuses text
// that is no value of the type.
func (f Field) Parse(in any, text string) error {
	if len(f.Enum) > 0 {
		i := slices.IndexFunc(f.Enum, func(word string) bool { return strings.EqualFold(word, text) })
		if i < 0 {
			return fmt.Errorf("%q is not known", text)
		}
		text = f.Enum[i]
	}
	switch f.Type.Kind() {
	case reflect.Slice:
		f.Set(in, append(slices.Clone(f.Get(in).([]string)), text))
		return nil
	case reflect.Map:
		return f.put(in, text)
	}
	value, err := f.parse(text)
	if err != nil {
		return err
	}
	v := reflect.New(f.Plain())
	v.Elem().Set(reflect.ValueOf(value).Convert(f.Plain()))
	if !f.Optional() {
		v = v.Elem()
	}
	f.Set(in, v.Interface())
	return nil
}

// put adds KEY=VALUE to a map.
func (f Field) put(in any, text string) error {
	key, word, paired := strings.Cut(text, "=")
	if !paired || key == "" {
		return fmt.Errorf("%q is not KEY=VALUE", text)
	}
	of := f
	of.Type = f.Type.Elem()
	value, err := of.parse(word)
	if err != nil {
		return err
	}
	entries := reflect.MakeMap(f.Type)
	for old := reflect.ValueOf(f.Get(in)).MapRange(); old.Next(); {
		entries.SetMapIndex(old.Key(), old.Value())
	}
	entries.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(value).Convert(of.Type))
	f.Set(in, entries.Interface())
	return nil
}

func (f Field) parse(text string) (value any, err error) {
	t := f.Plain()
	made := reflect.New(t)
	if u, ok := made.Interface().(encoding.TextUnmarshaler); ok {
		err = u.UnmarshalText([]byte(text))
		return made.Elem().Interface(), err
	}
	switch t.Kind() {
	case reflect.String:
		return text, nil
	case reflect.Bool:
		if value, err = strconv.ParseBool(text); err != nil {
			err = fmt.Errorf("%q is neither true nor false", text)
		}
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%q is not a number", text)
		case n < int64(f.Least) || n > int64(f.Most):
			return nil, fmt.Errorf("%d is not from %d to %d", n, f.Least, f.Most)
		}
		return n, nil
	default:
		panic("op: field " + f.Name + " has a type that cannot be typed")
	}
	return value, err
}

// Request is an input in the form in which it travels.
type Request struct {
	// Path are the parts of the address below the prefix of the API.
	Path   []string
	Query  url.Values
	Header http.Header
	// Body is nil if there is none.
	Body any
}

// spelled returns a value as text: a time is RFC 3339.
func spelled(value any) string {
	if at, ok := value.(time.Time); ok {
		return at.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprint(value)
}

// Request turns an input into the form in which it travels. Zero values are left out.
func (o *Operation) Request(in any) Request {
	r := Request{Query: url.Values{}, Header: http.Header{}}
	values := map[string]string{}
	for _, f := range Fields(in) {
		value := reflect.ValueOf(f.Get(in))
		switch {
		case f.Place == Path:
			values["{"+f.Name+"}"] = fmt.Sprint(value)
		case f.Place == Body || value.IsZero():
		case value.Kind() == reflect.Slice:
			for i := range value.Len() {
				r.Query.Add(f.Name, fmt.Sprint(value.Index(i)))
			}
		case f.Place == Query:
			r.Query.Set(f.Name, spelled(value.Interface()))
		default:
			r.Header.Set(f.Name, fmt.Sprint(value))
		}
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(o.Path, "/"), "/") {
		if value, ok := values[part]; ok {
			part = value
		}
		r.Path = append(r.Path, part)
	}
	if b := reflect.ValueOf(in).Elem().FieldByName("Body"); b.IsValid() && (b.Kind() != reflect.Pointer || !b.IsNil()) {
		r.Body = b.Interface()
	}
	return r
}
