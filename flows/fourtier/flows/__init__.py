"""Flow definitions and the model that reads them."""
