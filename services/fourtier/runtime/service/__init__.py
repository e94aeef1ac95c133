"""What the author of a service imports."""
