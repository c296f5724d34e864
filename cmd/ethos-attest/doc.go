// Ethos-attest signs and checks bundles and ceilings. `ethos-trace attest` and
// `ethos-trace verify --commit` replace themselves with it, and `ethos-decide
// bundle` starts it. Users do not call it by name.
package main
