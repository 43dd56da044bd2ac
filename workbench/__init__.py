"""Compaction workbench: see, tune and run what compaction does to an agent's session."""

__version__ = "0.1.0"
