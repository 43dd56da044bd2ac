"""Widgets in place of Textual's own, many of which would lay out the screen at every key.

Input is values to draw; output is messages about what was selected, typed or moved to. A widget knows no screen and no
other widget but its own children, and draws text of a session only through `tui.plain`.
"""
