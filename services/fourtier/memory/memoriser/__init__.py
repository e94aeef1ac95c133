"""`memoriser`: makes a memo of each closed page of the archive, by rule or by a model."""
