"""Widgets of the screens' own, where Textual's would be asked for a layout by every key.

In come values to draw; out go messages about what was chosen, typed or moved to. A widget knows no screen and no other
widget but its own children, and draws text of a session only through `tui.plain`.
"""
