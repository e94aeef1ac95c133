"""How a model is made to speak the one contract."""
