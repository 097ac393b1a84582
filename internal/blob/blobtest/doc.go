// Package blobtest gives tests a real S3 server. The product never imports it.
//
//	test binary ──starts itself──► child: VersityGW on a folder
//	     │                              ▲
//	     └── S3 client ── TCP ──────────┘ (any port) or through a Proxy with faults
//
// The server is a library, but it needs a process of its own, because it changes the
// working directory and supports one instance only. So the test binary starts itself once
// more, and the child becomes the server before any test code runs. It ends when its
// standard input does, however the tests end.
//
// A [Proxy] stands between a test and the server and injects faults of networks and
// broken stores.
package blobtest
