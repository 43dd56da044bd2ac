"""A grid over one or two fields of a policy, replayed on many sessions: which numbers do best.

`plan_of` says what is to be done, `spread` does it on all cores or a cluster, `rows_of` and `best` say what came of it.
"""
