"""Calls and messages over the bus: the caller's side and the serving side."""
