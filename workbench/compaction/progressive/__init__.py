"""Parts of the strategy `progressive`."""
