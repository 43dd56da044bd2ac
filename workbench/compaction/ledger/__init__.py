"""Ledger: facts of removed messages that must not be lost, selected by code, each with its source.

entries.py   entries and their importance
gather.py    entries of a context, an earlier ledger's among them
names.py     mere names, which share lines
queue.py     lines and messages in steps, ranked
shorter.py   shortened messages
task.py      what a budget is filled from, measured in tokens or characters
room.py      the first steps of the queue that fit a budget
plan.py      the complete plan for a budget, and a ledger of a whole context
lost.py      rules and the open request that a result lacks
text.py      a ledger as text, and back
"""
