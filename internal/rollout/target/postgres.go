package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// postgres is the engine.
type postgres struct {
	config *pgx.ConnConfig
	o      Options
	secrets
}

// refusedKeys name files of the machine that Weir runs on, or its own settings:
// a target's address has no business with them.
var refusedKeys = []string{"service", "servicefile", "passfile"}

func openPostgres(dsn string, o Options) (Target, error) {
	settings, err := postgresSettings(dsn)
	if err != nil {
		return nil, err
	}
	for _, key := range refusedKeys {
		if settings[key] != "" {
			return nil, badDSN(goodPostgres, "names a %s: Weir reads no such file", key)
		}
	}
	for _, need := range []struct{ key, what string }{{"host", "host"}, {"user", "user"}, {"dbname", "database"}} {
		if settings[need.key] == "" {
			return nil, badDSN(goodPostgres, "has no %s", need.what)
		}
	}
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		var parse *pgconn.ParseConfigError
		if errors.As(err, &parse) && parse.Unwrap() != nil {
			err = parse.Unwrap() // the outer one quotes the address
		}
		return nil, badDSN(goodPostgres, "is refused: %v", secretsOf(settings["password"]).hide(err))
	}
	// The library would fill in what the environment says, which is for Weir's
	// own database.
	config.Password = settings["password"]
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // a change may drop prepared statements
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 10 * time.Second
	}
	dialer := &net.Dialer{Timeout: config.ConnectTimeout, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 4}}
	config.DialFunc = dialer.DialContext
	return &base{engine: &postgres{config: config, o: o, secrets: secretsOf(config.Password)}, o: o}, nil
}

// postgresSettings are what the address says, by libpq's names.
func postgresSettings(dsn string) (map[string]string, error) {
	dsn = strings.TrimSpace(dsn)
	if dsn == "" {
		return nil, badDSN(goodPostgres, "is empty")
	}
	scheme, _, isURL := strings.Cut(dsn, "://")
	if !isURL {
		return keyValues(dsn)
	}
	if scheme != "postgres" && scheme != "postgresql" {
		return nil, badDSN(goodPostgres, "is for %s, not for postgres", scheme)
	}
	u, err := splitURL(dsn, goodPostgres)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for key, values := range u.Query() {
		found[key] = values[0]
	}
	if u.Host != "" {
		found["host"] = u.Host
	}
	if name := strings.TrimPrefix(u.Path, "/"); name != "" {
		found["dbname"] = name
	}
	if u.User != nil {
		found["user"] = u.User.Username()
		if password, ok := u.User.Password(); ok {
			found["password"] = password
		}
	}
	return found, nil
}

func (p *postgres) open(ctx context.Context, application string) (session, error) {
	config := p.config.Copy()
	config.RuntimeParams["application_name"] = application
	s := &pgSession{p: p}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if len(s.notices) < mostNotices {
			s.notices = append(s.notices, n.Severity+": "+n.Message)
		}
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	s.conn = conn
	if err := s.greet(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (p *postgres) redact(err error) error { return p.hide(err) }

func (p *postgres) uniqueState() string { return "23505" }

// againStates are the only answers after which a transaction is tried again
// (rule 5): the server undid it, and not for anything that is in it.
var againStates = map[string]string{
	"55P03": CodeLockTimeout,
	"40P01": CodeDeadlock,
	"40001": CodeSerialization,
}

func (p *postgres) classify(err error) verdict {
	var answer *pgconn.PgError
	if !errors.As(err, &answer) {
		return verdict{class: lost, code: CodeLost}
	}
	v := verdict{class: refused, code: CodeSQL, state: answer.Code}
	switch {
	case answer.Severity == "FATAL" || answer.Severity == "PANIC" || answer.SeverityUnlocalized == "FATAL" || answer.SeverityUnlocalized == "PANIC":
		// The backend is gone. What it did before that is not said.
		v.class, v.code = lost, CodeLost
	case againStates[answer.Code] != "":
		v.class, v.code = again, againStates[answer.Code]
	case answer.Code == "57014":
		v.class, v.code = halted, CodeCanceled
	case answer.Code == "42601":
		v.code = CodeSyntax
	case answer.Code == "42501":
		v.code = CodeForbidden
	}
	return v
}

// finalStates are refusals of a connection that do not pass by themselves: wrong
// password, no such user, no such database, not allowed.
var finalStates = []string{"28P01", "28000", "3D000", "42501"}

func (p *postgres) connectFailure(err error) error {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	f = &Failure{Code: CodeUnreachable, What: "connect to the target", Err: inOneLine(p.hide(err)), Next: "See whether the server is up and the address is right. Nothing was changed.", again: true}
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		f.State = answer.Code
		f.Err = fmt.Errorf("%s (SQLSTATE %s)", answer.Message, answer.Code)
		if slices.Contains(finalStates, answer.Code) {
			f.again = false
			f.Next = "Mend the user, the password or the name of the database in its DSN. Nothing was changed."
		}
	}
	return f
}
