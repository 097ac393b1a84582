// Package pagetest has the tests of the pages of all domains, over HTTP and in Chromium. They
// stand in one folder because they share sample data (a studio of films, a farm of machines, a
// harbour of databases, a lab of devices) and one browser. Package webtest runs the dashboard
// for them.
package pagetest
