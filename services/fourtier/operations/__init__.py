"""What operators do with a running flow; every interface calls it."""
