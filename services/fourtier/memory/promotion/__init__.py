"""From an ended conversation to lasting facts and an episode."""
