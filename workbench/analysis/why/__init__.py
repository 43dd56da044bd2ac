"""Diagnosis of an overflow: growth, breakdown of the context, waste, and possible improvements."""
