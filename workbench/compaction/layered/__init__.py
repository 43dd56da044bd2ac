"""The parts of the strategy `layered`, and what else its design describes."""
