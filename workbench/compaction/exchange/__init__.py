"""Parts of `exchange-summary`: settings, product parameters, the cut between exchanges, the abridged history."""
