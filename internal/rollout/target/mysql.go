package target

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// mySQL is the engine, for MySQL and MariaDB.
type mySQL struct {
	config *mysql.Config
	o      Options
	secrets
	// schema is quoted, lock is the name of the target's lock.
	schema, lock string
}

func openMySQL(dsn string, o Options) (Target, error) {
	config, err := mysqlConfig(dsn)
	if err != nil {
		return nil, err
	}
	switch {
	case config.Addr == "" || strings.HasPrefix(config.Addr, ":"):
		return nil, badDSN(goodMySQL, "has no host")
	case config.User == "":
		return nil, badDSN(goodMySQL, "has no user")
	case config.DBName == "":
		return nil, badDSN(goodMySQL, "has no database")
	case config.AllowAllFiles:
		return nil, badDSN(goodMySQL, "has allowAllFiles: a server could read Weir's files")
	}
	// Statements go one by one, so what the server answers belongs to one of them.
	config.MultiStatements = false
	config.InterpolateParams = true
	config.ParseTime, config.Loc = true, time.UTC
	config.Logger = &mysql.NopLogger{}
	config.ClientFoundRows = true
	if config.Timeout == 0 {
		config.Timeout = 10 * time.Second
	}
	dialer := &net.Dialer{Timeout: config.Timeout, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 4}}
	config.DialFunc = dialer.DialContext
	schema := config.DBName
	if o.Schema != "" {
		schema = o.Schema
	}
	// Locks are the server's, and their names are at most 64 bytes.
	sum := sha256.Sum256([]byte(config.DBName))
	return &base{engine: &mySQL{
		config: config, o: o, secrets: secretsOf(config.Passwd),
		schema: "`" + strings.ReplaceAll(schema, "`", "``") + "`", lock: "weir database " + hex.EncodeToString(sum[:16]),
	}, o: o}, nil
}

func mysqlConfig(dsn string) (*mysql.Config, error) {
	dsn = strings.TrimSpace(dsn)
	if dsn == "" {
		return nil, badDSN(goodMySQL, "is empty")
	}
	scheme, _, isURL := strings.Cut(dsn, "://")
	if !isURL || strings.ContainsAny(scheme, "@(:/") {
		config, err := mysql.ParseDSN(dsn)
		if err != nil {
			return nil, badDSN(goodMySQL, "is refused: %v", err) // the library's errors are constants
		}
		return config, nil
	}
	if scheme != "mysql" && scheme != "mariadb" {
		return nil, badDSN(goodMySQL, "is for %s, not for mysql", scheme)
	}
	u, err := splitURL(dsn, goodMySQL)
	if err != nil {
		return nil, err
	}
	host, port := u.Hostname(), u.Port()
	if port == "" {
		port = "3306"
	}
	// Parameters are those of the driver, so they are read by the driver.
	config, err := mysql.ParseDSN("tcp(" + net.JoinHostPort(host, port) + ")/?" + u.RawQuery)
	if err != nil {
		return nil, badDSN(goodMySQL, "is refused: %v", err)
	}
	if host == "" {
		config.Addr = ""
	}
	config.DBName = strings.TrimPrefix(u.Path, "/")
	if u.User != nil {
		config.User = u.User.Username()
		config.Passwd, _ = u.User.Password()
	}
	return config, nil
}

func (m *mySQL) open(ctx context.Context, application string) (session, error) {
	config := m.config.Clone()
	config.ConnectionAttributes = "program_name:" + application
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &mySession{m: m, db: db, conn: conn, application: application}
	s.books = &ledger{wire: s, schema: m.schema, now: "utc_timestamp(6)"}
	if err := s.greet(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (m *mySQL) redact(err error) error { return m.hide(err) }

func (m *mySQL) uniqueState() string { return "1062" }

// The numbers of errors that mean more than no.
const (
	erLockWait    = 1205
	erDeadlock    = 1213
	erInterrupted = 1317
	erTimeout     = 1969 // MariaDB: max_statement_time
	erTimeoutToo  = 3024 // MySQL: max_execution_time
	erKilled      = 1927
	erShutdown    = 1053
	erIdle        = 4031
	erSyntax      = 1064
)

func (m *mySQL) classify(err error) verdict {
	var answer *mysql.MySQLError
	if !errors.As(err, &answer) {
		return verdict{class: lost, code: CodeLost}
	}
	v := verdict{class: refused, code: CodeSQL, state: strconv.Itoa(int(answer.Number))}
	switch answer.Number {
	case erLockWait:
		v.class, v.code = again, CodeLockTimeout
	case erDeadlock:
		v.class, v.code = again, CodeDeadlock
	case erInterrupted:
		v.class, v.code = halted, CodeCanceled
	case erTimeout, erTimeoutToo:
		v.class, v.code = halted, CodeStatementTimeout
	case erKilled, erShutdown, erIdle:
		v.class, v.code = lost, CodeLost
	case erSyntax:
		v.code = CodeSyntax
	case 1044, 1045, 1142, 1143, 1227, 1370:
		v.code = CodeForbidden
	}
	return v
}

func (m *mySQL) connectFailure(err error) error {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	f = &Failure{Code: CodeUnreachable, What: "connect to the target", Err: m.hide(err), Next: "See whether the server is up and the address is right. Nothing was changed.", again: true}
	var answer *mysql.MySQLError
	if errors.As(err, &answer) {
		f.State = strconv.Itoa(int(answer.Number))
		switch answer.Number {
		case 1044, 1045, 1049, 1698, 1130: // wrong user, password, database or host
			f.again = false
			f.Next = "Mend the user, the password or the name of the database in its DSN. Nothing was changed."
		}
	}
	return f
}
