"""Diagnosis of an overflow: growth, what filled the context, waste, and what would have helped."""
