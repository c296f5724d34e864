// Package otlp sends a store's records to an OpenTelemetry collector, as logs and spans over
// OTLP/HTTP in protobuf.
//
//	e := otlp.New(config)      // where to, and by which headers
//	err := e.Export(ctx, store) // everything behind the bookmark; with Follow, what is added too
//
// # Contract
//
// Every line of the store is sent at least once. The bookmark moves only if the collector has
// accepted everything before it, or has permanently refused a record, which is reported. What is
// sent for a line depends only on the line and the configuration: its log record has the line's
// hash as log.record.uid, and its span the ids derived from the record's id, so that a receiver can
// detect duplicates.
//
// Secrets are removed once more before anything is sent. Writers to the store never wait for an
// export. One batch is in memory at a time, at most [BatchRecords] lines and about [BatchBytes].
//
// # Answers of a collector
//
// After 429, 502, 503 and 504, and without an answer, the request is retried with increasing
// delays, or as Retry-After says. Records that a partial success counts as rejected are reported
// and not sent again. 400 and 413 are about the content: the batch is halved until the refused
// records stand alone; these are reported and skipped, provided that others were accepted. Every
// other answer ends the export and leaves the bookmark where it was.
//
// Sources: OpenTelemetry Protocol specification 1.11 (OTLP/HTTP), "OpenTelemetry Protocol Exporter"
// of the OpenTelemetry specification 1.50, semantic conventions for GenAI (execute_tool), process
// and log.
package otlp
