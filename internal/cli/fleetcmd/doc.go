// Package fleetcmd has the commands on fleet jobs, PCs and devices.
package fleetcmd
