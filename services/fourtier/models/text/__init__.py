"""Text for models: prompts in files, and how many tokens a text costs."""
