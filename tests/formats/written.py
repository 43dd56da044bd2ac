"""The formats that are written; the others are read only."""

from workbench.formats import registry

WRITTEN = tuple(known for known in registry.formats() if known.codec.write is not None)
