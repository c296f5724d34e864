package leaf

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"
)

// pair is a certificate that signs itself.
func pair(t *testing.T, change func(*x509.Certificate)) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	template.Subject.CommonName = "authority"
	if change != nil {
		change(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestCertificate(t *testing.T) {
	authority, err := New(pair(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(authority.certificate)
	for _, host := range []string{"example.com", "xn--bcher-kva.example", "192.0.2.1", "2001:db8::1", strings.Repeat("a.", 100) + "test"} {
		c, err := authority.Certificate(host)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots}); err != nil {
			t.Errorf("%s: %v", host, err)
		}
		if err := c.Leaf.VerifyHostname("other.test"); err == nil || c.Leaf.IsCA || time.Until(c.Leaf.NotAfter) > life {
			t.Errorf("%s: %+v", host, c.Leaf)
		}
		if again, _ := authority.Certificate(host); again != c {
			t.Errorf("%s: made twice", host)
		}
	}
	for i := range 2 * maxKept {
		if _, err := authority.Certificate(fmt.Sprintf("n%d.test", i)); err != nil {
			t.Fatal(err)
		}
	}
	if len(authority.kept) > maxKept {
		t.Errorf("%d are kept", len(authority.kept))
	}
}

func TestRefused(t *testing.T) {
	good, other := pair(t, nil), pair(t, nil)
	for name, p := range map[string]tls.Certificate{
		"empty":       {},
		"no key":      {Certificate: good.Certificate},
		"another key": {Certificate: good.Certificate, PrivateKey: other.PrivateKey},
		"no CA":       pair(t, func(c *x509.Certificate) { c.IsCA = false }),
		"not to sign": pair(t, func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageDigitalSignature }),
		"garbage":     {Certificate: [][]byte{{1, 2}}, PrivateKey: good.PrivateKey},
	} {
		if _, err := New(p); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// TestEndsWithAuthority: no leaf outlives the authority.
func TestEndsWithAuthority(t *testing.T) {
	p := pair(t, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(2 * time.Hour) })
	authority, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	c, err := authority.Certificate("example.com")
	if err != nil || c.Leaf.NotAfter.After(authority.certificate.NotAfter) {
		t.Errorf("%v, %v", c.Leaf.NotAfter, err)
	}
}
