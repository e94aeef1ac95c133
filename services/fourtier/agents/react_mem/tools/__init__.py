"""What the agent can do: its own tools, installed functions, services on topics."""
