// Package asset serves the dashboard's stylesheet and scripts from the binary.
//
//	files/1-tokens.css … 4-kit.css ─┐
//	picture.CSS ────────────────────┴─► /assets/weir-HASH.css
//	files/weir.js ────────────────────► /assets/weir-HASH.js
//
// A name carries the hash of what it names, so a browser may keep it for ever
// and a new version is a new name. There is no build: what stands in files is
// what is sent.
package asset
