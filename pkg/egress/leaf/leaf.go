// Package leaf issues server certificates for hosts, signed by an authority of
// the user.
//
//	authority, err := leaf.New(pair)
//	certificate, err := authority.Certificate("example.com")
//
// # Contract
//
// A certificate names one host. It is valid for a day, or until the authority
// expires if that is earlier. The authority's key signs leaf certificates and
// nothing else. An Authority is safe for concurrent use, and its memory is
// limited.
package leaf

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"sync"
	"time"
)

const (
	life    = 24 * time.Hour
	maxKept = 1000
)

// Authority signs leaf certificates.
type Authority struct {
	certificate *x509.Certificate
	signer      crypto.Signer
	key         *ecdsa.PrivateKey // the key of all leaf certificates

	mu   sync.Mutex
	kept map[string]*tls.Certificate
}

// New returns an Authority with the certificate and key of pair.
func New(pair tls.Certificate) (*Authority, error) {
	if len(pair.Certificate) == 0 {
		return nil, errors.New("authority: no certificate")
	}
	certificate, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return nil, fmt.Errorf("authority: %w", err)
	}
	signer, ok := pair.PrivateKey.(crypto.Signer)
	if !ok {
		return nil, errors.New("authority: no private key")
	}
	public, ok := signer.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(certificate.PublicKey) {
		return nil, errors.New("authority: the key does not match the certificate")
	}
	if !certificate.IsCA || certificate.KeyUsage != 0 && certificate.KeyUsage&x509.KeyUsageCertSign == 0 {
		return nil, errors.New("authority: the certificate may not sign others")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("authority: %w", err)
	}
	return &Authority{certificate: certificate, signer: signer, key: key, kept: map[string]*tls.Certificate{}}, nil
}

// Certificate returns the leaf certificate for a name or an address.
func (a *Authority) Certificate(host string) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if kept := a.kept[host]; kept != nil && time.Until(kept.Leaf.NotAfter) > time.Hour {
		return kept, nil
	}
	made, err := a.mint(host, time.Now())
	if err != nil {
		return nil, fmt.Errorf("certificate for %s: %w", host, err)
	}
	if len(a.kept) >= maxKept {
		clear(a.kept)
	}
	a.kept[host] = made
	return made, nil
}

func (a *Authority) mint(host string, now time.Time) (*tls.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		NotBefore:    now.Add(-time.Hour), // clocks differ
		NotAfter:     now.Add(life),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if template.NotAfter.After(a.certificate.NotAfter) {
		template.NotAfter = a.certificate.NotAfter
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		template.IPAddresses = append(template.IPAddresses, addr.AsSlice())
	} else {
		template.DNSNames = []string{host}
	}
	if len(host) <= 64 { // the maximum length of a common name, RFC 5280
		template.Subject = pkix.Name{CommonName: host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, a.key.Public(), a.signer)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der, a.certificate.Raw}, PrivateKey: a.key, Leaf: leaf}, nil
}
