"""From a finished run to facts and an episode."""
