package seatbelt

import (
	"fmt"
	"slices"
)

// rootLinks are the links in the root directory of macOS, through which programs name /private.
var rootLinks = []string{"/etc", "/tmp", "/var"}

// services are the Mach services that every command may look up: who a user is, which groups it is
// in, and the notifications that the C library waits for. None of them acts for who asks.
var services = []string{"com.apple.system.notification_center", "com.apple.system.opendirectoryd.libinfo", "com.apple.system.opendirectoryd.membership"}

// networkServices are further ones for a command with the network of the host: how to resolve names,
// and whether to trust a certificate.
var networkServices = []string{"com.apple.SystemConfiguration.DNSConfiguration", "com.apple.SystemConfiguration.configd", "com.apple.trustd.agent"}

// machine are the sysctl(3) names that programs ask about the machine. Names about processes, such
// as kern.procargs2 with the arguments and environment of others, are not among them.
var machine = []string{
	"kern.argmax", "kern.boottime", "kern.hostname", "kern.iossupportversion", "kern.maxfiles", "kern.maxfilesperproc", "kern.maxproc", "kern.ngroups",
	"kern.osproductversion", "kern.osrelease", "kern.ostype", "kern.osvariant_status", "kern.osversion", "kern.secure_kernel", "kern.usrstack64", "kern.version",
	"security.mac.lockdown_mode_state", "sysctl.proc_cputype", "vm.loadavg",
}

// machinePrefixes are groups of such names.
var machinePrefixes = []string{"hw.", "machdep.cpu."}

// notifications is the shared memory of the notification service, which is read-only.
const notifications = "apple.shm.notification_center"

// processes writes the rules that do not depend on the plan, except for network services. A command
// may start and signal its own processes, and open no terminal: it has those that it inherited.
func (w *writer) processes() {
	w.section("processes, and what every program asks the system")
	w.text.WriteString("(allow process-fork)\n")
	w.rule("allow signal process-info*", "(target same-sandbox)")
	lookups := slices.Clone(services)
	if w.plan.Network == "host" {
		lookups = append(lookups, networkServices...)
	}
	w.rule("allow mach-lookup", each("global-name", lookups)...)
	w.rule("allow ipc-posix-shm-read*", each("ipc-posix-name", []string{notifications})...)
	w.rule("allow sysctl-read", append(each("sysctl-name", machine), each("sysctl-name-prefix", machinePrefixes)...)...)
	w.section("devices; control of terminals, and of nothing else")
	w.rule("allow file-read*", w.filter("literal", "/"))
	w.rule("allow file-read* file-write-data", append(w.literals("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/stdin", "/dev/stdout", "/dev/stderr"), w.filter("subpath", "/dev/fd"))...)
	w.rule("allow file-ioctl", append(w.literals("/dev/null", "/dev/tty"), `(regex #"^/dev/ttys[0-9]+$")`)...)
}

func each(kind string, names []string) (filters []string) {
	for _, name := range names {
		filters = append(filters, fmt.Sprintf("(%s %s)", kind, quoted(name)))
	}
	return filters
}

func (w *writer) literals(paths ...string) (filters []string) {
	for _, path := range paths {
		filters = append(filters, w.filter("literal", path))
	}
	return filters
}

// resolver is the socket of the service that resolves names for the C library.
const resolver = "/private/var/run/mDNSResponder"

// network writes the rules for the network and for Unix sockets. A rule for the network names a
// port, and of hosts only this one or all.
func (w *writer) network() {
	p := w.plan
	w.section("network " + p.Network)
	host := map[string]string{"host": "*", "loopback": "localhost"}[p.Network]
	if host != "" {
		protocol, connect, bind := "ip", []string{"*"}, []string{"*"}
		if p.Ports != nil {
			protocol, connect, bind = "tcp", portsOf(p.Ports.Connect), portsOf(p.Ports.Bind)
		}
		w.rule("allow network-outbound", ends("remote", protocol, host, connect)...)
		w.rule("allow network-bind network-inbound", ends("local", protocol, host, bind)...)
	}
	w.sockets(p.Network == "host" && (p.Ports == nil || slices.Contains(p.Ports.Connect, "53")))
}

func portsOf(declared []string) []string {
	switch {
	case len(declared) == 0:
		return []string{"*"}
	case slices.Equal(declared, []string{"none"}):
		return nil
	}
	return declared
}

func ends(side, protocol, host string, ports []string) (filters []string) {
	for _, port := range ports {
		filters = append(filters, fmt.Sprintf("(%s %s %s)", side, protocol, quoted(host+":"+port)))
	}
	return filters
}

// sockets writes the rules for Unix sockets: those that are declared, and the command's own in its
// private directory, where nobody else has one.
func (w *writer) sockets(resolves bool) {
	reached := slices.Clone(w.plan.Sockets)
	if resolves {
		reached = append(reached, resolver)
	}
	own := !w.plan.NoUnixSockets
	if len(reached) > 0 || own {
		w.rule("allow system-socket", "(socket-domain AF_UNIX)")
	}
	for _, path := range reached {
		w.rule("allow network-outbound", "(remote unix-socket "+w.filter("path-literal", path)+")")
	}
	if own {
		scratch := `(subpath (param "` + Scratch + `"))`
		w.rule("allow network-outbound", "(remote unix-socket "+scratch+")")
		w.rule("allow network-bind network-inbound", "(local unix-socket "+scratch+")")
	}
}
