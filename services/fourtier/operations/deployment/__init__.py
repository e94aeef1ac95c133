"""Writes the deployment files that must know every service, from the services' own declarations."""
