package workflow

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/reason"
	"github.com/weirhq/weir/internal/workflow/definition"
)

const (
	// signedFor is how far the time of a signed delivery may be from the server's.
	signedFor = 5 * time.Minute
	// overlapDefault is how long the secret before is accepted after a rotation.
	overlapDefault = 24 * time.Hour
	overlapMost    = 30 * 24 * time.Hour
)

// hookRoots are what a webhook may read of a delivery.
var hookRoots = []string{"body", "headers", "delivery"}

// signatures are the headers that a delivery is signed by. What they and credentials hold
// is read by no template.
var signatures = []string{"X-Weir-Signature", "X-Hub-Signature-256", "X-Gitlab-Token", "X-Hub-Signature", "Authorization", "Cookie", "Proxy-Authorization"}

// deliveryIDs are the headers by which senders name a delivery, the first one first.
var deliveryIDs = []string{"Idempotency-Key", "X-Github-Delivery", "X-Gitlab-Event-Uuid", "Webhook-Id"}

// RotatingTrigger makes a new secret for a webhook.
type RotatingTrigger struct {
	NamedTrigger
	Body *RotateBody
}

// RotateBody says for how long the secret before is accepted.
type RotateBody struct {
	Overlap op.Wait `json:"overlap,omitempty" doc:"How long deliveries may still be signed with the secret before; default: 24h, at most 720h."`
}

// TriggerSecret is the secret of a webhook. It is shown once.
type TriggerSecret struct {
	Trigger string `json:"trigger"`
	Path    string `json:"path" doc:"Where to POST, below the address of the server."`
	Secret  string `json:"secret" doc:"What deliveries are signed with. It is shown once."`
	// BeforeUntil is until when the secret before is accepted.
	BeforeUntil time.Time `json:"before_until,omitzero"`
}

// RotateTrigger makes a new secret.
var RotateTrigger = op.New(onTriggers(http.MethodPost, "rotate", "/{trigger}/rotate", auth.Manage,
	"Make a new secret for a webhook; the one before is accepted for a while"),
	func(ctx context.Context, s *Store, who auth.Subject, in *RotatingTrigger) (TriggerSecret, error) {
		overlap := time.Duration(op.Given(in.Body).Overlap)
		if overlap == 0 {
			overlap = overlapDefault
		}
		if overlap < 0 || overlap > overlapMost {
			return TriggerSecret{}, problem.Refuse("overlap", "at most 720h", "%s is out of bounds", overlap)
		}
		return s.makeSecret(ctx, who.By(), in.Trigger, overlap, false)
	})

// hookPath returns the path of a webhook.
func hookPath(trigger string) string { return "/api/v1/hooks/" + trigger }

// makeSecret gives a webhook a new secret. With fresh, one that has a secret keeps it, and
// the answer is empty.
func (s *Store) makeSecret(ctx context.Context, by, trigger string, overlap time.Duration, fresh bool) (out TriggerSecret, err error) {
	if s.vault == nil {
		return out, problem.New(problem.NotFound, "start the server with a secret key: secret_key_file", "this server has no key for secrets")
	}
	var random [40]byte
	_, _ = rand.Read(random[:]) // never fails
	name, value := "webhook_"+hex.EncodeToString(random[:8]), "whk_"+base64.RawURLEncoding.EncodeToString(random[8:])
	until, err := s.hookSecret(ctx, by, trigger, name, value, overlap, fresh)
	if err != nil || until == nil {
		return out, err
	}
	return TriggerSecret{Trigger: trigger, Path: hookPath(trigger), Secret: value, BeforeUntil: *until}, nil
}

// Delivery is a request to a webhook.
type Delivery struct {
	Trigger string
	Header  http.Header
	Body    []byte
	// Address is where it came from.
	Address string
}

// Delivered is what came of a delivery.
type Delivered struct {
	Delivery string       `json:"delivery" doc:"The id of the delivery: the sender's, or one made of the body."`
	State    string       `json:"state" enum:"started,ignored,failed"`
	Job      weir.ID      `json:"job,omitzero" doc:"The job that it started."`
	Again    bool         `json:"again,omitempty" doc:"It came before: nothing new was started."`
	Reason   string       `json:"reason,omitempty" doc:"Why it started nothing."`
	Why      reason.Coded `json:"why,omitzero"`
}

// ErrUnsigned is the answer to a delivery whose signature is missing or wrong, or whose
// trigger does not exist: the sender is not told which.
var ErrUnsigned = problem.New(problem.Unauthenticated, "sign the body with the secret of the trigger: X-Weir-Signature, X-Hub-Signature-256 or X-Gitlab-Token", "the signature is wrong")

// hook is what a delivery is checked against.
type hook struct {
	Trigger
	// secrets are the names of those that are accepted now.
	secrets []string
	now     time.Time
}

// Deliver checks the signature of a delivery and starts its run. A delivery that was not
// signed returns [ErrUnsigned].
func (s *Store) Deliver(ctx context.Context, d Delivery) (Delivered, error) {
	h, err := s.hook(ctx, d.Trigger)
	if err != nil {
		return Delivered{}, err
	}
	if !d.signed(s.openHook(ctx, h), h.now) {
		if err := s.noteUnsigned(ctx, d.Trigger, d.Address); err != nil {
			return Delivered{}, err
		}
		return Delivered{}, ErrUnsigned
	}
	key := d.key()
	f, err := s.judgeDelivery(ctx, h, d, key)
	if err != nil {
		return Delivered{}, err
	}
	return s.deliver(ctx, d.Trigger, key, f)
}

// openHook returns the secrets of a webhook that open. One that does not is left out,
// because the other one may still be right.
func (s *Store) openHook(ctx context.Context, h hook) (values []string) {
	for _, name := range h.secrets {
		if s.vault == nil {
			break
		}
		opened, err := s.vault.Open(ctx, []string{name})
		if err != nil {
			s.log.Error("the secret of a webhook does not open", "trigger", h.Name, "secret", name, "error", err)
			continue
		}
		values = append(values, opened[name])
	}
	return values
}

// judgeDelivery returns what a delivery starts.
func (s *Store) judgeDelivery(ctx context.Context, h hook, d Delivery, key string) (fire, error) {
	f := fire{Trigger: h.Name, Key: key, State: "started"}
	m, err := definition.ParseMapping(h.When, h.Params, hookRoots...)
	if err != nil {
		return f.failed(err)
	}
	var body any
	if len(d.Body) > 0 {
		read := json.NewDecoder(bytes.NewReader(d.Body))
		read.UseNumber()
		if err := read.Decode(&body); err != nil {
			return f.failed(problem.Refuse("body", "send JSON", "it is no JSON: %s", err))
		}
	}
	holds, params, err := m.Evaluate(map[string]any{
		"body": body, "headers": d.headers(), "delivery": map[string]any{"id": key, "trigger": h.Name},
	})
	if err != nil {
		return f.failed(err)
	}
	if !holds {
		return f.not("ignored", map[string]any{"code": "trigger_condition", "condition": h.When}), nil
	}
	return s.openFor(ctx, f, h.Workflow, params, StartedBy{Trigger: h.Name, Key: key, Chain: 1})
}

// signed reports whether one of the secrets signed the delivery.
func (d *Delivery) signed(secrets []string, now time.Time) bool {
	good := false
	for _, secret := range secrets { // each of them, whatever the first gives
		good = d.signedBy(secret, now) || good
	}
	return good
}

// signedBy checks the form that the delivery has: the time and the body, the body alone,
// or the secret itself.
func (d *Delivery) signedBy(secret string, now time.Time) bool {
	if text := d.Header.Get("X-Weir-Signature"); text != "" {
		at, sum, _ := strings.Cut(text, ",")
		at, timed := strings.CutPrefix(strings.TrimSpace(at), "t=")
		sum, versioned := strings.CutPrefix(strings.TrimSpace(sum), "v1=")
		seconds, err := strconv.ParseInt(at, 10, 64)
		if err != nil || !timed || !versioned || now.Sub(time.Unix(seconds, 0)).Abs() > signedFor {
			return false
		}
		return hmacIs(secret, sum, []byte(at+"."), d.Body)
	}
	if text, ok := strings.CutPrefix(d.Header.Get("X-Hub-Signature-256"), "sha256="); ok {
		return hmacIs(secret, text, d.Body)
	}
	if token := d.Header.Get("X-Gitlab-Token"); token != "" {
		given, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(secret))
		return hmac.Equal(given[:], want[:])
	}
	return false
}

// hmacIs reports whether text is the HMAC-SHA256 of the parts, in hex.
func hmacIs(secret, text string, parts ...[]byte) bool {
	given, err := hex.DecodeString(text)
	if err != nil {
		return false
	}
	h := hmac.New(sha256.New, []byte(secret))
	for _, part := range parts {
		h.Write(part)
	}
	return hmac.Equal(h.Sum(nil), given)
}

// key returns what makes a delivery one: the sender's id, or else the signature and the
// body, so that the same request again is the same delivery.
func (d *Delivery) key() string {
	for _, name := range deliveryIDs {
		if id := d.Header.Get(name); id != "" && len(id) <= 150 {
			return id
		}
	}
	h := sha256.New()
	h.Write([]byte(d.Header.Get("X-Weir-Signature")))
	h.Write(d.Body)
	return "body/" + hex.EncodeToString(h.Sum(nil)[:16])
}

// headers returns the headers as a mapping reads them, by their names in lower case.
func (d *Delivery) headers() map[string]any {
	shown := d.Header.Clone()
	for _, name := range signatures {
		shown.Del(name)
	}
	out := make(map[string]any, len(shown))
	for name, values := range shown {
		out[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return out
}
