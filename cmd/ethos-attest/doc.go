// Ethos-attest signs and checks. It is what `ethos-trace attest` and
// `ethos-trace verify --commit` become, and what `ethos-decide bundle` starts.
// Nobody calls it by name.
package main
