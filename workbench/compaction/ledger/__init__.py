"""The ledger: what must not get lost of the messages that go, kept by code and named with its source.

entries.py   what an entry is, and which are the more important
gather.py    entries out of a context, an earlier ledger's among them
names.py     mere names, which share lines
queue.py     what may take room, by what it is worth: lines and messages, in steps
shorter.py   messages in fewer words
room.py      the beginning of the queue that fits
plan.py      the whole plan for a budget, to the last token
lost.py      rules and the open request that a result lacks
text.py      a ledger as text, and back: the next compaction reads what this one wrote
"""
