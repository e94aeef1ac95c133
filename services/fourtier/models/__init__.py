"""What calls models: embeddings and completion, each a service, and what they share about text."""
