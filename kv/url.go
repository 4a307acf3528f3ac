package kv

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// URL names a store that others operate: scheme://host,host,host/path?option=value&….
type URL struct {
	Scheme  string
	Hosts   []string // each a name or an address, with a port as a rule
	Path    string   // without the leading slash
	Options url.Values
}

// IsURL reports whether text is meant as a URL, and not as a directory.
func IsURL(text string) bool {
	scheme, _, ok := strings.Cut(text, "://")
	return ok && scheme != "" && !strings.ContainsAny(scheme, `/\.`)
}

// ParseURL reads a URL. Package net/url takes one host only.
func ParseURL(text string) (u URL, err error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return u, fmt.Errorf("%q is not a URL: scheme://host,host/path is expected", text)
	}
	rest, options, _ := strings.Cut(rest, "?")
	hosts, path, _ := strings.Cut(rest, "/")
	u = URL{Scheme: strings.ToLower(scheme), Path: strings.TrimSuffix(path, "/")}
	if strings.Contains(hosts, "@") {
		return u, fmt.Errorf("the URL of a store holds no password, for others could read it in "+
			"the list of processes: %s takes it from a file", u.Scheme)
	}
	for host := range strings.SplitSeq(hosts, ",") {
		if host != "" {
			u.Hosts = append(u.Hosts, host)
		}
	}
	if u.Options, err = url.ParseQuery(options); err != nil {
		return u, fmt.Errorf("options of the store's URL: %w", err)
	}
	return u, nil
}

// String returns the URL as ParseURL reads it.
func (u URL) String() string {
	text := u.Scheme + "://" + strings.Join(u.Hosts, ",")
	if u.Path != "" {
		text += "/" + u.Path
	}
	if len(u.Options) > 0 {
		text += "?" + u.Options.Encode()
	}
	return text
}

// Opener opens the store that a URL names.
type Opener func(ctx context.Context, u URL) (Engine, error)

// Openers are the engines of a program, by the schemes of their URLs.
type Openers map[string]Opener

// Open opens the store that a URL names. It is *SchemeError for a scheme without an engine.
func (o Openers) Open(ctx context.Context, u URL) (Engine, error) {
	open := o[u.Scheme]
	if open == nil {
		return nil, &SchemeError{Scheme: u.Scheme, Known: slices.Sorted(maps.Keys(o))}
	}
	return open(ctx, u)
}

// SchemeError is returned for a URL whose scheme has no engine in this program.
type SchemeError struct {
	Scheme string
	Known  []string
}

func (e *SchemeError) Error() string {
	text := fmt.Sprintf("this program has no engine for %s:// stores", e.Scheme)
	if len(e.Known) > 0 {
		text += ", only for " + strings.Join(e.Known, ", ")
	}
	return text
}
