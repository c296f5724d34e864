// Package report shows entries to people: on a terminal ([Human]), as Markdown ([Markdown]) and as
// one HTML file ([HTML]).
//
// Each takes [Sink.Action] for every entry and [Sink.Close] at the end, which writes the summary.
//
// # Contract
//
// Commands and output are hostile text. Control characters, escape sequences and bidirectional
// overrides are shown as text, never sent to a terminal. Markdown and HTML are escaped; the HTML
// has a content security policy under which nothing runs and nothing is fetched. Memory does not
// grow with the number of entries, except for a short index of the HTML form.
//
// # Limits
//
// Widths follow Unicode's East Asian Width for the common ranges; terminals differ about emoji
// sequences.
package report
