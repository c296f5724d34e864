// Package report shows entries to people: on a terminal ([Human]), as Markdown ([Markdown]) and as one HTML file ([HTML]).
//
// All of them take [Sink.Action] for each entry and [Sink.Close] at the end, where the summary is written.
//
// # Contract
//
// Commands and output are hostile text: control characters, escape sequences and bidirectional overrides are shown, never
// sent to a terminal; Markdown and HTML are escaped, and the HTML carries a content security policy under which nothing runs and nothing
// is fetched. Memory does not grow with
// the number of entries, but for a short index of the HTML form.
//
// # Limits
//
// Widths follow Unicode's East Asian Width for the common ranges; terminals differ about emoji sequences.
package report
