package door

import (
	"net/http"
	"net/url"
	"strings"
)

// Next returns where to go after logging in: the parameter next, if it is a path of this
// site, else the start page.
func Next(r *http.Request) string { return safe(r.FormValue("next")) }

// safe returns next if it is a path of this site, else "/". Browsers read a backslash as
// a slash and take two slashes for another host; tabs and newlines, which browsers drop,
// are no part of a URL to the parser.
func safe(next string) string {
	u, err := url.Parse(next)
	if err != nil || len(next) > 2000 || u.IsAbs() || u.Host != "" || u.User != nil {
		return "/"
	}
	if !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") || strings.Contains(u.Path, `\`) {
		return "/"
	}
	return u.String()
}
