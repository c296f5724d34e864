// Ethos-otlp is the program that `ethos-trace export` replaces itself with. It
// sends a store to an OpenTelemetry collector. Users do not call it by name.
package main
