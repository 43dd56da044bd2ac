"""What only the strategy `progressive` needs."""
