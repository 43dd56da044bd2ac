"""Which version of the program this is, and of the documents it writes."""

__version__ = "0.1.0"

SCHEMA = 2
"""Of every JSON document: greater when a key goes or means something else. New keys come without notice."""
