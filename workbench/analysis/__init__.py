"""Analysis of sessions and compactions: overflow, usage, replay and sweep, retention, rework, costs, search.

In: sessions, contexts, outcomes and policies. Out: figures and findings as frozen values. Asks no model, and knows
neither bench nor screen.
"""
