"""A process of a flow: its services, health endpoint, data lock and signals."""
