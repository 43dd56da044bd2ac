"""The middle pane: its texts, tab by tab, and the pager that shows them.

Input is a bench, a place in it and the open folds; output is parts of text with style names. Only `pager` is a widget:
everything else runs in a thread, and tests read it directly.
"""
