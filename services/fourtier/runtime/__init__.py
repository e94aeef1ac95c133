"""Bus, calls, serving, retry, telemetry, settings: knows no word of memory."""
