"""The stores of a service: how they are declared, opened, written and searched."""
