// Ethos-otlp is what `ethos-trace export` becomes: it sends a store to an
// OpenTelemetry collector. Nobody calls it by name.
package main
