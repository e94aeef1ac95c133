"""Apache Pulsar, the same for a cluster and for the embedded broker."""
