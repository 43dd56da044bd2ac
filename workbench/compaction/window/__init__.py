"""What the strategy `message-window` alone needs."""
