"""Which version of the program this is, and of the documents it writes."""

__version__ = "0.1.0"

SCHEMA = 3
"""Of every JSON document (docs/json.md). It rises when a key is renamed, removed or changes its meaning; a key may be
added at any time."""
