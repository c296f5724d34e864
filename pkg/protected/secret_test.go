package protected

import "testing"

func TestSecret(t *testing.T) {
	for name, want := range map[string]bool{
		".env": true, "app/.env.local": true, ".env.staging": true, ".ENV": true, ".env.example": false, ".env.local.sample": false, ".environment": false, "env": false,
		"k/server.key": true, "a.pem": true, "id_ed25519": true, "id_ed25519.pub": false, ".npmrc": true, "main.go": false,
	} {
		if Secret(name) != want {
			t.Errorf("Secret(%q) is %v", name, !want)
		}
	}
}

func TestKey(t *testing.T) {
	for name, want := range map[string]bool{
		"k/server.key": true, "a.pem": true, "site-key.pem": true, "ca-key.pem": true, "rootCA-key.pem": true, "privkey.pem": true, "cakes.pem": true, "ID_ED25519": true, "x.p12": true, ".netrc": true, "p.kdbx": true,
		"ca.pem": false, "k/corp-CA.pem": false, "rootCA.pem": false, "cert.pem": false, "fullchain1.pem": false, "ca-bundle.pem": false, "id_rsa.pub": false, "ca.crt": false, ".env": false, "key": false, "x.go": false,
	} {
		if Key(name) != want {
			t.Errorf("Key(%q) is %v", name, !want)
		}
	}
}

func TestSensitive(t *testing.T) {
	for word, want := range map[string]bool{
		"~/.ssh/id_rsa": true, "/root/.aws/credentials": true, "/home/x/.netrc": true, "/Users/x/.kube/config": true, "/h/.npmrc": true, "/etc/shadow": true, "/etc/shadow-": true,
		"/etc/ssh/ssh_host_rsa_key": true, "/proc/1/environ": true, "keys/id_ed25519": true, "~me/.netrc": true, "/HOME/x/.Netrc": true, "/users/x/.kube/config": true, "/Root/.aws/credentials": true,
		".npmrc": false, "~+/.netrc": false, "~-/.netrc": false, "/srv/.npmrc": false, "~/notes": false, "/rooted/.netrc": false, "/home/.netrc": false, "/etc/passwd": false, "/etc/shadowed": false, "id_rsa": false, "": false,
	} {
		if Sensitive(word, "/h") != want {
			t.Errorf("Sensitive(%q) is %v", word, !want)
		}
	}
}
