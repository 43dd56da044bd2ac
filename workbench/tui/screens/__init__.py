"""Screens and dialogs other than the bench, one per file.

A screen is constructed with the data that it shows, mostly a `workbench.bench.Bench`. Its docstring names the result
that it returns. A screen imports neither the application nor the bench's screen; it reaches them by messages and by the
application's actions.
"""
