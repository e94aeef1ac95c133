"""The trace of one run, compressed when it grows."""
