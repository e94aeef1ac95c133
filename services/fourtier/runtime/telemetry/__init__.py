"""Spans, metrics, logs, redaction."""
