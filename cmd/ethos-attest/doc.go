// Ethos-attest is what `ethos-trace attest` and `ethos-trace verify --commit`
// become: it signs and checks bundles. Nobody calls it by name.
package main
