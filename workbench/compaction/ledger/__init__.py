"""The ledger: what must not get lost of the messages that go, kept by code and named with its source.

entries.py   what an entry is, and which are the more important
gather.py    entries out of a context, an earlier ledger's among them
room.py      which of them a budget has room for
text.py      a ledger as text, and back: the next compaction reads what this one wrote
"""
