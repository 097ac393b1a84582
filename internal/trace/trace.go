package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/weirhq/weir/internal/problem"
)

// scope names this server to readers of spans.
const scope = "github.com/weirhq/weir"

// Config says where spans go. The zero value leaves it to the OTEL_* variables of
// OpenTelemetry, which also set sampling, headers, timeouts and TLS.
type Config struct {
	// Endpoint is the address of a collector that accepts OTLP over HTTP, such as
	// http://localhost:4318. It takes precedence over the variables.
	Endpoint string
	// Version and Instance describe this process.
	Version, Instance string
	// Log receives a line when the collector cannot be reached, and when it is back.
	Log *slog.Logger
}

// Tracing is the setup of one process.
type Tracing struct {
	provider oteltrace.TracerProvider
	tracer   oteltrace.Tracer
	// sdk is nil when tracing is off.
	sdk *sdktrace.TracerProvider
}

// Start sets up tracing. Without a setting for it, tracing is off, which is no error. The
// collector need not be running yet.
func Start(ctx context.Context, config Config) (*Tracing, error) {
	endpoint, on, err := decide(config.Endpoint, os.Getenv)
	if err != nil || !on {
		return off(), err
	}
	var options []otlptracehttp.Option
	if endpoint != "" {
		options = append(options, otlptracehttp.WithEndpointURL(endpoint))
	}
	exporter, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return off(), fmt.Errorf("set up tracing: %w", err)
	}
	return start(ctx, config, sdktrace.NewBatchSpanProcessor(&watched{SpanExporter: exporter, log: config.Log}))
}

func off() *Tracing {
	provider := noop.NewTracerProvider()
	return &Tracing{provider: provider, tracer: provider.Tracer(scope)}
}

// start starts tracing into a processor.
func start(ctx context.Context, config Config, to sdktrace.SpanProcessor) (*Tracing, error) {
	about, err := resource.New(ctx,
		resource.WithAttributes(
			attribute.String("service.name", "weir"),
			attribute.String("service.version", cmp.Or(config.Version, "unknown")),
			attribute.String("service.instance.id", config.Instance),
		),
		resource.WithTelemetrySDK(), resource.WithHost(),
		resource.WithFromEnv(), // last, because the operator's variables take precedence
	)
	if err != nil {
		return off(), errors.Join(fmt.Errorf("describe this process to the collector: %w", err), to.Shutdown(ctx))
	}
	sdk := sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithSpanProcessor(to))
	return &Tracing{provider: sdk, tracer: sdk.Tracer(scope), sdk: sdk}, nil
}

// On reports whether spans are sent.
func (t *Tracing) On() bool { return t.sdk != nil }

// Provider returns the provider for code that makes its own spans. It is never nil.
func (t *Tracing) Provider() oteltrace.TracerProvider { return t.provider }

// Stop sends the remaining spans. ctx bounds how long that may take.
func (t *Tracing) Stop(ctx context.Context) error {
	if t.sdk == nil {
		return nil
	}
	if err := t.sdk.Shutdown(ctx); err != nil {
		return fmt.Errorf("send the last spans: %w", err)
	}
	return nil
}

// decide returns whether any setting asks for tracing. It returns an endpoint only if
// that is Weir's own setting, because the exporter reads the variables by itself.
func decide(setting string, env func(string) string) (endpoint string, on bool, err error) {
	if strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") {
		return "", false, nil
	}
	if setting != "" {
		u, err := url.Parse(setting)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return "", false, &problem.Problem{
				Kind: problem.Invalid, Field: "trace_endpoint", What: fmt.Sprintf("trace_endpoint: %q is not an address of a collector", setting),
				Next: "give the address where it takes OTLP over HTTP, such as http://localhost:4318",
			}
		}
		if u.Path == "" || u.Path == "/" {
			u.Path = "/v1/traces"
		}
		return u.String(), true, nil
	}
	if cmp.Or(env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), env("OTEL_EXPORTER_OTLP_ENDPOINT")) == "" || env("OTEL_TRACES_EXPORTER") == "none" {
		return "", false, nil
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if p := env(name); p != "" && p != "http/protobuf" {
			return "", false, &problem.Problem{
				Kind: problem.Invalid, Field: name, What: fmt.Sprintf("%s is %q, and Weir sends traces as http/protobuf", name, p),
				Next: "unset it and give the collector's port for OTLP over HTTP (4318 by default)",
			}
		}
	}
	return "", true, nil
}
