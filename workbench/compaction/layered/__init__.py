"""Parts of the strategy `layered`."""
