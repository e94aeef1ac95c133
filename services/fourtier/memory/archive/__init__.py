"""The archive: what was said and read, verbatim, in pages, searchable."""
