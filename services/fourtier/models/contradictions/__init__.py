"""Whether one statement of a person leaves an older one untrue, by a small cross-encoder."""
