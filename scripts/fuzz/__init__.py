"""What `make fuzz` runs: inputs, the doors they go through, and the watch over that."""
