"""Sweep: a grid over one or two policy fields, replayed on many sessions to find the best values.

`plan_of` makes the plan, `spread` runs it on all cores or a cluster, `rows_of` and `best` evaluate it.
"""
