"""Every session on this machine, or below given folders, in one table: what their compactions did and cost.

In come folders or the places of all tools; out go rows, one for each session, with a row for each recorded compaction
in it, and what they come to together: groups, advice, files. A row is small and stands alone, so rows are made on all
cores or a cluster, kept for as long as their file is the same, and read one by one. Not known here: the screen.
"""
