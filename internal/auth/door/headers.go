package door

import "net/http"

// policy lets a page load only files of this server, run no inline script, use no inline
// style, and be framed by no site.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// headers are set on every answer. A handler may replace Cache-Control, as the ones for
// assets do.
var headers = map[string]string{
	"Content-Security-Policy":      policy,
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
	"Cache-Control":                "no-store",
}

func (d *Door) setHeaders(h http.Header) {
	for name, value := range headers {
		h.Set(name, value)
	}
	if d.config.Secure {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}
