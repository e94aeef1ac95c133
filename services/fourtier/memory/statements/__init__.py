"""Rules that find statements in what was said: a library that several services share."""
