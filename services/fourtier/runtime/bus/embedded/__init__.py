"""The embedded broker: `pulsar-lite` as a child process."""
