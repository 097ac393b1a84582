// Package fleetpages has the pages of fleets: jobs on devices, the devices, their PCs and the quarantine.
// How a page is made stands in the doc of package web.
package fleetpages
