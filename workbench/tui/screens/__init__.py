"""Screens and dialogs besides the bench, one in a file.

Input is what a screen shows, mostly a `workbench.bench.Bench`; output is its result, which its docstring names. A
screen changes only what it was opened for, and imports neither the application nor the bench's screen; it reaches them
by messages and by the application's actions.
"""
