"""Sessions on this machine, found in the places of every format or below a folder, and following one that grows.

Takes folders and files; returns `Found` sessions, each read in part, and marks by which one is followed. Nothing is
changed, locked or held open. Unknown here: any format by name, strategies, counting of tokens, the screen.
"""
