"""Versions of the program and of its JSON documents."""

__version__ = "0.1.0"

SCHEMA = 3
"""Version of every JSON document (docs/json.md). It rises when a key is renamed, removed or changes its meaning; a key
may be added at any time."""
