"""Vectors and graph: one protocol each, an embedded engine and a server behind it."""
