// Package accountpages has the pages of users and of the credentials of people, programs and machines.
// How a page is made stands in the doc of package web.
package accountpages
