"""Sessions on this machine: where the tools keep them, what one holds at a glance, what a growing one has finished.

In come folders and files; out go `Found` sessions, each told by its first and last bytes, and marks by which one is
followed. Nothing is changed, locked or held open. Not known here: strategies, counting of tokens, the screen.
"""
