"""Effects of numbers just below, at and just above their limits."""
