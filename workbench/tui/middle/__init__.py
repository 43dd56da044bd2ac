"""What the middle pane shows, tab by tab, and the pager that shows it.

In comes a `View`: a bench, a place in it and what is folded; out go parts of text with the names of their styles. Only
`pager` is a widget: everything else is made in a thread and read by tests as it is.
"""
