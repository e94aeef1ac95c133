"""What the author of a tool imports."""
