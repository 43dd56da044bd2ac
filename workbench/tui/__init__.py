"""The screen: draws what the other packages compute and turns keys into calls of their functions.

Inputs are a session or a path, the user's settings (`settings`) and the state saved between starts (`home`). Outputs
are steps of `workbench.bench`, files that the user asks for, and saved work. There are no rules of compaction here, and
no format or strategy is named: anything particular to one comes from its `Format` or `Strategy`. Long work runs in a
worker of the screen that shows it, which checks whether the result is still needed.

`app` opens and shows sessions, `bench` is the screen from which all others open, `screens` are the others, `middle`
makes the texts of the middle pane, `widgets` know none of these. The modules next to them are pure: texts, rows and
lines that tests read without a screen.
"""
