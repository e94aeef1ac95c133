"""A typed client for those who use a flow."""
