"""Long-term facts: a graph that is the truth and a vector index that can be rebuilt from it."""
