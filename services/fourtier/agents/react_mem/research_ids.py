"""How a run names its researches, so that it has the same ones again when it is taken up."""


def research_of(run_id: str, step: int | None = None) -> str:
    """The research before a run's first step, or that of a tool in one of its steps."""
    return f"{run_id}/research" if step is None else f"{run_id}/research/{step}"
