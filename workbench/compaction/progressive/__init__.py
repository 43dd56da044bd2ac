"""What only the strategy `progressive` needs (spec/strategies.md §2; document 001)."""
