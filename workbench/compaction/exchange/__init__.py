"""Parts of `exchange-summary`: the cut between exchanges, the abridged history."""
