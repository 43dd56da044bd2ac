"""One self-contained page about a session: how it grew, why it overflowed, what compaction would make of it.

gathered.py   what the page tells, as one frozen value, from the functions that screen and command line use
drawing.py    plots as SVG
pages.py      the page as HTML or Markdown
"""
