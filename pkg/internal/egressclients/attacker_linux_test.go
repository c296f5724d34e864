package egressclients

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"
)

// fetch is a static client without any configuration.
func fetch(url string) int {
	response, err := http.Get(url)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer response.Body.Close()
	if _, err := io.Copy(os.Stdout, response.Body); err != nil || response.StatusCode != http.StatusOK {
		return 1
	}
	return 0
}

// probes are the ways out that the attacker knows. One that returns nil has
// been answered by what it was to reach, or has been given what it asked for.
var probes = map[string]func(string) error{
	"tcp": tcp, "udp": udp, "lookup": lookup, "dns-udp": dnsUDP, "dns-tcp": dnsTCP, "ping": ping, "unix": unixSocket, "own": ownServer,
	"socket": openSocket, "netlink": netlink,
}

// attack tries each KIND=ARGUMENT and prints what became of it.
func attack(args []string) int {
	var wait sync.WaitGroup
	for _, arg := range args {
		wait.Go(func() {
			kind, argument, _ := strings.Cut(arg, "=")
			if err := probes[kind](argument); err != nil {
				fmt.Printf("refused %s: %v\n", arg, err)
			} else {
				fmt.Printf("reached %s\n", arg)
			}
		})
	}
	wait.Wait()
	fmt.Println("done")
	return 0
}

// answerTime is how long an answer is waited for.
const answerTime = 2 * time.Second

// exchange sends a message and reads the first bytes of the answer.
func exchange(network, address string, message []byte) ([]byte, error) {
	c, err := net.DialTimeout(network, address, answerTime)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(answerTime)); err != nil {
		return nil, err
	}
	if _, err := c.Write(message); err != nil {
		return nil, err
	}
	buffer := make([]byte, 1024)
	n, err := c.Read(buffer)
	return buffer[:n], err
}

func tcp(address string) error {
	_, err := exchange("tcp", address, []byte("GET / HTTP/1.0\r\n\r\n"))
	return err
}

func udp(address string) error {
	_, err := exchange("udp", address, []byte("x"))
	return err
}

func lookup(name string) error {
	_, err := net.LookupHost(name)
	return err
}

func unixSocket(path string) error {
	_, err := exchange("unix", path, []byte("x"))
	return err
}

func dnsQuery() []byte {
	message := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: 1, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(registry + "."), Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}},
	}
	return must(message.Pack())
}

func dnsUDP(address string) error {
	reply, err := exchange("udp", address, dnsQuery())
	return answered(reply, err)
}

func dnsTCP(address string) error {
	query := dnsQuery()
	reply, err := exchange("tcp", address, append(binary.BigEndian.AppendUint16(nil, uint16(len(query))), query...))
	return answered(reply[min(2, len(reply)):], err)
}

func answered(reply []byte, err error) error {
	var message dnsmessage.Message
	switch {
	case err != nil:
		return err
	case message.Unpack(reply) != nil || len(message.Answers) == 0:
		return errors.New("no answer")
	}
	return nil
}

// ping sends an echo request by a ping socket, icmp(7).
func ping(address string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.IPPROTO_ICMP)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	to := &unix.SockaddrInet4{Addr: [4]byte(net.ParseIP(address).To4())}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 2}); err != nil {
		return err
	}
	if err := unix.Sendto(fd, []byte{8, 0, 0, 0, 0, 0, 0, 1}, 0, to); err != nil {
		return err
	}
	_, _, err = unix.Recvfrom(fd, make([]byte, 64), 0)
	return err
}

// ownServer is reached at an address of the program's own.
func ownServer(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			_, _ = io.WriteString(c, "own")
			c.Close()
		}
	}()
	return tcp(l.Addr().String())
}

func openSocket(kind string) error {
	fd, err := -1, error(nil)
	switch kind {
	case "raw":
		fd, err = unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)
	case "raw6":
		fd, err = unix.Socket(unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6)
	case "packet":
		fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
	case "vsock":
		fd, err = unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)
	default:
		return errors.ErrUnsupported
	}
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// netlink reads the interfaces, or asks for a change of the network,
// rtnetlink(7): an address, a route that leads everywhere, the loopback down.
func netlink(what string) error {
	const change = unix.NLM_F_CREATE | unix.NLM_F_REPLACE
	switch what {
	case "read":
		interfaces, err := net.Interfaces()
		if err == nil && len(interfaces) == 0 {
			return errors.New("no interface")
		}
		return err
	case "address":
		body := []byte{unix.AF_INET, 32, 0, 0, 1, 0, 0, 0} // struct ifaddrmsg of interface 1, lo
		return request(unix.RTM_NEWADDR, change, append(body, attribute(unix.IFA_LOCAL, []byte{20, 9, 9, 9})...))
	case "route":
		body := make([]byte, unix.SizeofRtMsg) // struct rtmsg
		body[0], body[1], body[4], body[5], body[6], body[7] = unix.AF_INET, 8, unix.RT_TABLE_LOCAL, unix.RTPROT_STATIC, unix.RT_SCOPE_HOST, unix.RTN_LOCAL
		body = append(body, attribute(unix.RTA_DST, []byte{21, 0, 0, 0})...)
		return request(unix.RTM_NEWROUTE, change, append(body, attribute(unix.RTA_OIF, []byte{1, 0, 0, 0})...))
	case "link":
		body := make([]byte, unix.SizeofIfInfomsg) // struct ifinfomsg
		binary.NativeEndian.PutUint32(body[4:], 1) // lo
		return request(unix.RTM_NEWLINK, 0, append(body, attribute(unix.IFLA_MTU, []byte{0, 5, 0, 0})...))
	}
	return errors.ErrUnsupported
}

func attribute(kind uint16, value []byte) []byte {
	head := binary.NativeEndian.AppendUint16(nil, uint16(unix.SizeofRtAttr+len(value)))
	return append(binary.NativeEndian.AppendUint16(head, kind), value...)
}

// request sends one request and returns what the kernel acknowledges it with.
func request(kind, flags uint16, body []byte) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	message := binary.NativeEndian.AppendUint32(nil, uint32(unix.SizeofNlMsghdr+len(body)))
	message = binary.NativeEndian.AppendUint16(message, kind)
	message = binary.NativeEndian.AppendUint16(message, flags|unix.NLM_F_REQUEST|unix.NLM_F_ACK)
	message = append(append(message, make([]byte, 8)...), body...)
	if err := unix.Sendto(fd, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	reply := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, reply, 0)
	if err != nil {
		return err
	}
	if n < unix.SizeofNlMsghdr+4 || binary.NativeEndian.Uint16(reply[4:]) != unix.NLMSG_ERROR {
		return errors.New("no acknowledgement")
	}
	if code := int32(binary.NativeEndian.Uint32(reply[unix.SizeofNlMsghdr:])); code != 0 {
		return unix.Errno(-code)
	}
	return nil
}
