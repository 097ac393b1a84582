package app

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

// writePair writes a certificate for a name, and its key.
func writePair(t *testing.T, dir, name string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{"cert": {Type: "CERTIFICATE", Bytes: cert}, "key": {Type: "PRIVATE KEY", Bytes: private}} {
		writeText(t, filepath.Join(dir, file), string(pem.EncodeToMemory(block)))
	}
}

// writeText writes a file, with a time of its own whatever the file system's
// resolution is.
func writeText(t *testing.T, path, text string) {
	t.Helper()
	at := time.Now()
	if info, err := os.Stat(path); err == nil {
		at = info.ModTime().Add(time.Second)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestACertificateIsReadAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var log testwait.Text
	load := func() (*certificate, error) {
		return loadCertificate(filepath.Join(dir, "cert"), filepath.Join(dir, "key"), slog.New(slog.NewTextHandler(&log, nil)))
	}
	if _, err := load(); err == nil {
		t.Error("files that are not there were read")
	}
	writePair(t, dir, "one")
	c, err := load()
	if err != nil {
		t.Fatal(err)
	}
	shows := func(want string) {
		t.Helper()
		pair, err := c.get(nil)
		if err != nil || pair.Leaf.Subject.CommonName != want {
			t.Errorf("got %v, %v, want %s", pair.Leaf.Subject, err, want)
		}
	}
	shows("one")
	writeText(t, filepath.Join(dir, "cert"), "half a certificate")
	c.looked = time.Time{} // the next handshake looks
	shows("one")
	if !strings.Contains(log.String(), "the old one stays") {
		t.Errorf("the log says:\n%s", &log)
	}
	writePair(t, dir, "two")
	c.looked = time.Time{}
	shows("two")
	writePair(t, dir, "three")
	c.looked = time.Now().Add(time.Hour) // no handshake looks
	shows("two")
	c.reload()
	shows("three")
}

// A server that is told to reads its log level again, names what else has changed,
// and goes on as before if the configuration is wrong.
func TestTheConfigurationIsReadAgain(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	var log testwait.Text
	level := new(slog.LevelVar)
	level.Set(slog.LevelWarn)
	reload := make(chan struct{})
	config := Config{DatabaseURL: db.URL, Data: t.TempDir()}.Defaults()
	next, fault := config, error(nil)
	r := up(t, config, Options{
		Log: config.LoggerAt(&log, level), Level: level, Reload: reload,
		Reread: func() (Config, error) { return next, fault },
	})
	fault = errors.New("line 3 is odd")
	reload <- struct{}{}
	testwait.Until(t, "it says what is wrong", func() bool { return strings.Contains(log.String(), "line 3 is odd") })
	if level.Level() != slog.LevelWarn {
		t.Errorf("the level is %s", level.Level())
	}
	fault, next.LogLevel, next.Retention = nil, "debug", 2*time.Hour
	reload <- struct{}{}
	testwait.Until(t, "the level changes", func() bool { return level.Level() == slog.LevelDebug })
	testwait.Until(t, "it names what waits", func() bool {
		return strings.Contains(log.String(), "log_level=debug") && strings.Contains(log.String(), "retention")
	})
	if err := r.stop(); err != nil {
		t.Error(err)
	}
}
