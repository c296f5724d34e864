// Package boundary runs ethos-sandbox as people run it, on this machine and on machines that lack something.
//
// It has no code to call; its tests build the program once and start it: where a control cannot be had, in what imitates the containers of other
// engines, on a terminal, and with the builds and tools that people really use.
//
// Limits: Linux. What a test needs beside user namespaces it says through probetest.
package boundary
