"""The files of `pulsar-lite`, and how acknowledged messages are removed from them."""
