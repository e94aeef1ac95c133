"""The record of each conversation, in order."""
