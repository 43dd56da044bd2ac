"""Every session on this machine, or below given folders, in one table: effects and costs of their compactions.

A row is a session with its recorded compactions; rows are summed into groups, advice and files. Rows are small and
independent, so they are computed on all cores or a cluster, and cached while their file is unchanged.
"""
