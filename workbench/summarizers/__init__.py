"""What answers a summary request, and the driver that runs a strategy with it."""
