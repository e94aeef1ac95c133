"""What trains the models that Fourtier brings along. Not part of the package."""
