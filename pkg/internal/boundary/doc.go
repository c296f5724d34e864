// Package boundary tests ethos-sandbox as users run it, on this machine and on machines that lack
// features.
//
// It exports nothing. Its tests build the program once and start it: where a control is
// unavailable, in imitations of other engines' containers, on a terminal, and with the builds and
// tools that users run.
//
// Limits: Linux. Tests declare what they need in addition to user namespaces through probetest.
package boundary
