// Package rolloutcmd has the commands on rollouts and on the databases that they change.
package rolloutcmd
