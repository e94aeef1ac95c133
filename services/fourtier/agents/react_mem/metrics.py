"""The metrics of the agent."""

from fourtier.runtime.telemetry import CountedMetric

TIERS_LEFT_OUT = CountedMetric(
    "fourtier.agent.tiers_left_out",
    "tiers that were unavailable or late for a run's context",
    "{tier}",
)
