// Package compose runs work by posting it to a service of a compose file. The driver
// starts the service when it is needed and stops it when it is idle.
//
//	Start ─► up already? ─no─► docker compose up -d SERVICE ─► listens? ─► POST
//	              └──────────────────yes────────────────────────────────────┘
//	Idle  ─► unused, and for long enough? ─► docker compose stop SERVICE
//
// A compose file can do to the machine whatever Docker can, so a step does not bring one:
// it names a file in the operator's folder. The request is that of the http driver, with
// the same list of hosts that steps may talk to.
//
// The driver uses the compose plug-in of Docker if there is one, else the program
// docker-compose, and logs which. It records the services that it started in files, so
// that a later process of the agent stops them too.
package compose
