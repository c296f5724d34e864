package netns

import "testing"

func TestParseUnmet(t *testing.T) {
	const snmp = `Ip: Forwarding DefaultTTL InReceives OutNoRoutes
Ip: 2 64 20 3
Tcp: RtoAlgorithm MaxConn ActiveOpens AttemptFails EstabResets
Tcp: 1 -1 4 2 7
Udp: InDatagrams NoPorts InErrors
Udp: 0 5 9
UdpLite: InDatagrams NoPorts InErrors
UdpLite: 0 100 0
`
	const snmp6 = "Ip6InReceives                   \t12\nIp6OutNoRoutes                  \t30\nUdp6NoPorts                     \t50\nUdpLite6NoPorts \t100\n"
	for _, c := range []struct {
		snmp, snmp6 string
		want        Unmet
	}{
		{snmp, snmp6, Unmet{33, 55, 2}},
		{snmp, "", Unmet{3, 5, 2}},
		{"", snmp6, Unmet{30, 50, 0}},
		{"Ip: OutNoRoutes X\nIp: 7\n", "Ip6OutNoRoutes x\nIp6OutNoRoutes", Unmet{NoRoute: 7}},
		{"Ip: OutNoRoutes", "", Unmet{}},
	} {
		if got := ParseUnmet([]byte(c.snmp), []byte(c.snmp6)); got != c.want {
			t.Errorf("%q %q: %+v, want %+v", c.snmp, c.snmp6, got, c.want)
		}
	}
}
