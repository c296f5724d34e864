package main

// The program is built twice. As ethos-sandbox it has no package egress, with which come TLS and
// HTTP, and no model of command lines, so that a start does not wait for them. It becomes the
// ethos-egress beside it, which has everything, where a command may be allowed names, and for unusual
// command lines.

// whole is the name of the program that has everything.
const whole = "ethos-egress"
