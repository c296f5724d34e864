package netargs

import (
	"slices"
	"strings"

	"ethos/pkg/lazy"
	"ethos/pkg/record"
)

// variableForms has the variables that direct the connections of a command, by their names in
// capitals.
var variableForms = lazy.Value[map[string]form]{Make: func() map[string]form {
	return map[string]form{
		"HTTP_PROXY": asProxy, "HTTPS_PROXY": asProxy, "ALL_PROXY": asProxy, "FTP_PROXY": asProxy, "RSYNC_PROXY": asHost, "PIP_PROXY": asProxy,
		"NPM_CONFIG_PROXY": asProxy, "NPM_CONFIG_HTTPS_PROXY": asProxy, "CARGO_HTTP_PROXY": asProxy,
		"NPM_CONFIG_REGISTRY": asLink, "YARN_REGISTRY": asLink, "YARN_NPM_REGISTRY_SERVER": asLink, "GOPROXY": asLink, "GOSUMDB": asLink,
		"PIP_INDEX_URL": asLink, "PIP_EXTRA_INDEX_URL": asLink, "PIP_FIND_LINKS": asLink,
		"UV_INDEX": asLink, "UV_INDEX_URL": asLink, "UV_DEFAULT_INDEX": asLink, "UV_EXTRA_INDEX_URL": asLink, "UV_FIND_LINKS": asLink,
		"AWS_ENDPOINT_URL": asLink, "PGHOST": asHosts, "PGHOSTADDR": asHosts, "MYSQL_HOST": asHost, "GH_HOST": asHost,
		"CURL_HOME": hides, "WGETRC": hides, "SYSTEM_WGETRC": hides, "NPM_CONFIG_USERCONFIG": hides, "NPM_CONFIG_GLOBALCONFIG": hides,
		"PIP_CONFIG_FILE": hides, "UV_CONFIG_FILE": hides, "PGSERVICE": hides, "PGSERVICEFILE": hides,
	}
}}

// setters set variables in the environment of the commands after them.
var setters = []string{"export", "declare", "typeset", "readonly", "local"}

// variables reads the variables that are given to the command, and those that it sets.
func (a *call) variables(c *record.Command) {
	for _, v := range c.Assignments {
		a.variable(v.Name, v.Value)
	}
	if !slices.Contains(setters, c.Name) {
		return
	}
	for _, w := range c.Argv[min(1, len(c.Argv)):] {
		if w == nil {
			continue
		}
		if name, value, ok := strings.Cut(*w, "="); ok {
			a.variable(name, &value)
		}
	}
}

func (a *call) variable(name string, value *string) {
	upper := strings.ToUpper(name)
	f := variableForms.Get()[upper]
	if strings.HasPrefix(upper, "CARGO_REGISTRIES_") || strings.HasPrefix(upper, "AWS_ENDPOINT_URL_") {
		f = asLink
	}
	switch {
	case f == flag:
	case f == hides || value == nil:
		a.out.hide(name)
	case *value == "" || strings.HasPrefix(*value, "/"): // none, or a socket file
	default:
		a.direct = a.direct || upper == "GOPROXY" && strings.Contains(*value, "direct")
		a.place(f, *value, name)
	}
}
