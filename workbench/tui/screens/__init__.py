"""The screens and dialogs beside the bench, one in a file.

In comes what a screen shows, mostly a `workbench.bench.Bench`; out goes what it was dismissed with, which its docstring
names. A screen changes nothing but what it was opened to change, and knows neither the application nor the bench's
screen; it reaches them by messages and by the application's actions.
"""
