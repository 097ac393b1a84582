// Package compose runs work by posting it to a service of a compose file, which
// is started when it is needed and stopped when it is not.
//
//	Start ─► up already? ─no─► docker compose up -d SERVICE ─► listens? ─► POST
//	              └──────────────────yes────────────────────────────────────┘
//	Idle  ─► nobody uses it, and long enough? ─► docker compose stop SERVICE
//
// A compose file can do with the machine whatever Docker can, so a step does not
// bring one: it names a file in the operator's folder. The post is that of the
// http driver, with the same list of whom steps may talk to.
//
// The driver uses the compose plug-in of Docker if there is one, else the
// program docker-compose, and says which. What it started it notes in a file, so
// that a later life of the agent stops it too.
package compose
