"""Text to vectors."""

import os

# ONNX Runtime reports to its maker unless it is told not to before it is first imported.
os.putenv("ORT_DISABLE_TELEMETRY", "1")
