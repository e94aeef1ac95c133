"""What reasons with memory: one package for each agent."""
