"""The parts of the strategy `layered`, and what else its document describes (spec/strategies.md §3; document 002)."""
