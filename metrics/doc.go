// Package metrics shows over HTTP how a database does: numbers for Prometheus, whether it is alive
// and whether it is ready for clients, and profiles of the process. [Handler] serves
//
//	/metrics        numbers, in Prometheus' text format, OpenMetrics or protobuf
//	/healthz        200 while the store works, 503 and the reason once it has failed
//	/readyz         200 while new sessions are accepted, 503 and the reason otherwise
//	/debug/pprof/   profiles, as package net/http/pprof serves them
//
// The numbers are counted where the things happen: in the packages that own them, as plain atomics
// or behind the locks that are there anyway. A scrape reads them, by one table of families
// (tables.go and its neighbours), so that without scrapes nothing is done for them. The package
// alone imports Prometheus' library. Its registry is its own: a program that embeds minidb keeps
// the default one to itself, and so does the default mux of package net/http, which is why
// net/http/pprof, whose import registers there, is not used.
//
// docs/monitoring.md explains each number; a test holds its table equal to the one of the code.
package metrics
