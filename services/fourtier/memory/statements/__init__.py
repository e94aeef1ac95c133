"""From what was said to what is kept, by rule or by a model: shared by services, itself none."""
