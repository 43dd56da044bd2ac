"""Parts of the strategy `message-window`."""
