"""What a flow needs of its servers before it starts: seen first, then made where it is missing."""
