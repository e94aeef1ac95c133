"""Every message of Fourtier and the topic that it travels on; needs pydantic and nothing else."""
