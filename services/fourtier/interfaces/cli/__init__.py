"""The `fourtier` command."""
