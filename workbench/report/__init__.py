"""One self-contained page about a session: its growth, the cause of the overflow, and the result of a compaction.

Input: an opened bench and the presets to compare. Output: a page as text, secrets masked. Every figure comes from the
functions that screen and command line use; the room imports neither of them.

contents.py   contents of the page as one frozen value
top.py        top of the page: the verdict, the context now and after as bars, findings as cards
sections.py   sections below it: sentences, bars, plots and tables
pages.py      the page as HTML with plots as SVG, or as Markdown
"""
