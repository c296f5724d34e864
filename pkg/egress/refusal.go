package egress

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"syscall"

	"ethos/pkg/egress/rule"
	"ethos/pkg/egress/socks"
)

// ErrorHeader is the response header of a refusal; its value is the reason.
const ErrorHeader = "x-ethos-error"

// refusalBody is the body of a refusal over HTTP.
type refusalBody struct {
	Error   rule.Reason `json:"error"`
	Message string      `json:"message"`
	Name    string      `json:"name,omitempty"`
	Port    uint16      `json:"port,omitempty"`
	Rule    string      `json:"rule,omitempty"`
	Remedy  string      `json:"remedy,omitempty"`
}

// answer returns the HTTP status, header and body for a refusal.
func answer(e Event) (status int, body []byte) {
	body, err := json.Marshal(refusalBody{e.Reason, e.Detail, e.Name, e.Port, e.Rule, e.Remedy})
	if err != nil { // cannot happen: every field is encodable
		body = []byte("{}")
	}
	switch e.Reason {
	case rule.NotAllowed, rule.Denied, rule.DeniedAddress, UnknownTarget, DeniedRequest, DeniedHost:
		status = http.StatusForbidden
	case BadRequest:
		status = http.StatusBadRequest
	case Busy:
		status = http.StatusServiceUnavailable
	default:
		status = http.StatusBadGateway
	}
	return status, append(body, '\n')
}

// response returns a refusal as bytes. The connection ends after it.
func response(e Event) []byte {
	status, body := answer(e)
	head := "HTTP/1.1 " + strconv.Itoa(status) + " " + http.StatusText(status) + "\r\n" +
		"Content-Type: application/json\r\n" + ErrorHeader + ": " + string(e.Reason) + "\r\n" +
		"Content-Length: " + strconv.Itoa(len(body)) + "\r\nConnection: close\r\n\r\n"
	return append([]byte(head), body...)
}

func replyCode(err error) socks.Code {
	var r *Refusal
	var dnsError *net.DNSError
	if errors.As(err, &r) {
		switch r.Verdict.Reason {
		case rule.NotAllowed, rule.Denied, rule.DeniedAddress, UnknownTarget, BadRequest:
			return socks.NotAllowed
		}
	}
	switch {
	case errors.As(err, &dnsError), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, context.DeadlineExceeded):
		return socks.HostUnreachable
	case errors.Is(err, syscall.ECONNREFUSED):
		return socks.ConnectionRefused
	case errors.Is(err, syscall.ENETUNREACH):
		return socks.NetworkUnreachable
	}
	return socks.GeneralFailure
}
