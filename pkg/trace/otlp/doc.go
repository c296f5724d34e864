// Package otlp sends a store's records to an OpenTelemetry collector, as logs and
// spans by OTLP/HTTP in protobuf.
//
//	e := otlp.New(config)      // where to, and by which headers
//	err := e.Export(ctx, store) // everything behind the bookmark; with Follow, what is added too
//
// # Contract
//
// Every line of the store is sent at least once. The bookmark in the store's
// directory moves only when the collector has accepted all before it, or has
// refused a record for good, which is told. What is sent of a line is a function
// of the line and the configuration alone: its log record has the line's hash as
// log.record.uid, and its span the ids that follow from the record's id, so that
// who receives it twice can tell.
//
// Secrets are taken out again before anything is sent. Whoever writes to the
// store waits for nothing here. One batch is in memory at a time, at most
// [BatchRecords] lines and about [BatchBytes].
//
// # Answers of a collector
//
// 429, 502, 503 and 504, and no answer at all, are tried again, later each time,
// or when Retry-After says. Records that an answer of partial success counts as
// rejected are told and not sent again. 400 and 413 are about what was sent: the
// batch is halved until the records that are refused stand alone; these are told
// and passed over, provided that others were accepted. Every other answer ends
// the export, with the bookmark where it was.
//
// Sources: OpenTelemetry Protocol specification 1.11 (OTLP/HTTP), "OpenTelemetry
// Protocol Exporter" of the OpenTelemetry specification 1.50, semantic conventions for
// GenAI (execute_tool), process and log.
package otlp
