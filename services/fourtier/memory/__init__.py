"""The tiers of memory and what fills them: a package for each service, and what they share."""
