"""The vector store: one protocol, Qdrant Edge and Qdrant."""
