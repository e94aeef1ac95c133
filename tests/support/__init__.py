"""What tests share: a running flow, waiting for conditions, a scripted model."""
