"""What is found out about a session and a compaction: why it overflowed, what replay and sweep make of it, what is held
and lost, what it costs.

In: sessions, contexts, outcomes and policies. Out: figures and findings as frozen values. It asks no model, and
knows neither bench nor screen.
"""
