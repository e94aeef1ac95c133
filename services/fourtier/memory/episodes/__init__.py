"""Past problem-solving, found again by its goal."""
