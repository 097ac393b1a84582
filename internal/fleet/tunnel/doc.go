// Package tunnel is a stream of bytes over a WebSocket: the two parts of a forward, from
// the user's machine to the server and from the agent to the server.
//
// Both ends call out by HTTPS, so nothing has to listen on the PC of a device. A WebSocket
// passes proxies and balancers that end connections without traffic, because both ends ping.
// The end that closes a tunnel says why by a code, which the other end can read.
package tunnel
