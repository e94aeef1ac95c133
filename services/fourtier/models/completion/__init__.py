"""Any OpenAI-compatible model behind one contract."""
