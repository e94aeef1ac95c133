"""The transport contract and what stands behind it: Pulsar, its embedded twin, and memory."""
