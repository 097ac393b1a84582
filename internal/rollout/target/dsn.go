package target

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// What a good address looks like.
const (
	goodPostgres = "postgres://user:password@host:5432/database?sslmode=require, or host=… port=5432 user=… password=… dbname=…" // #nosec G101 -- an example, of nobody
	goodMySQL    = "user:password@tcp(host:3306)/database, or mysql://user:password@host:3306/database"
)

// badDSN says what is wrong with an address. The address itself holds a password
// and is never shown.
func badDSN(good, format string, args ...any) error {
	return &Failure{Code: CodeInvalid, What: "the DSN " + fmt.Sprintf(format, args...), Next: "It looks like this: " + good}
}

// secrets are the texts that must not get out. Each driver puts its own into
// errors now and then.
type secrets []string

// hide takes them out of an error. An error without any stays itself.
func (s secrets) hide(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, secret := range s {
		if len(secret) > 0 {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	if text == err.Error() {
		return err
	}
	return errors.New(text)
}

// secretsOf are a password in the forms in which it can show up. One of a letter
// or two would turn every error into stars, and hides nothing.
func secretsOf(password string) secrets {
	if len(password) < 3 {
		return nil
	}
	return secrets{password, url.QueryEscape(password), url.PathEscape(password)}
}

// splitURL reads an address that is a URL, without showing it in the error.
func splitURL(dsn, good string) (*url.URL, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		// The error of the library quotes the address.
		var parse *url.Error
		if errors.As(err, &parse) {
			switch {
			case strings.Contains(parse.Err.Error(), "port"):
				return nil, badDSN(good, "is no good URL: the port is not a number")
			case strings.Contains(parse.Err.Error(), "escape"), strings.Contains(parse.Err.Error(), "userinfo"):
				return nil, badDSN(good, "is no good URL: write special characters of the password as %%XX")
			}
		}
		return nil, badDSN(good, "is no good URL")
	}
	return u, nil
}

// keyValues reads host=… user='…' as libpq does.
func keyValues(dsn string) (map[string]string, error) {
	found := map[string]string{}
	rest := strings.TrimSpace(dsn)
	for rest != "" {
		key, after, ok := strings.Cut(rest, "=")
		key = strings.TrimSpace(key)
		if !ok || key == "" || strings.ContainsAny(key, " '\\") {
			return nil, badDSN(goodPostgres, "is neither a URL nor a list of key=value")
		}
		value, left, err := oneValue(strings.TrimLeft(after, " \t\n"))
		if err != nil {
			return nil, err
		}
		found[key] = value
		rest = strings.TrimSpace(left)
	}
	return found, nil
}

// oneValue reads a value, quoted or not, and gives the rest.
func oneValue(s string) (value, rest string, err error) {
	quoted := strings.HasPrefix(s, "'")
	if quoted {
		s = s[1:]
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case quoted && c == '\'':
			return b.String(), s[i+1:], nil
		case !quoted && (c == ' ' || c == '\t' || c == '\n'):
			return b.String(), s[i:], nil
		default:
			b.WriteByte(c)
		}
	}
	if quoted {
		return "", "", badDSN(goodPostgres, "has a quote that does not end")
	}
	return b.String(), "", nil
}
