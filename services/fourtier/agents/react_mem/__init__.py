"""`react_mem`: the ReAct loop with four tiers of memory in its context."""
