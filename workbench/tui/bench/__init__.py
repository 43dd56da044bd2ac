"""The bench: the screen on which a session's compaction is planned, edited, run and assessed.

Input is a `workbench.bench.Bench` and the state of its file; outputs are the screens that keys open and messages to the
application. `store` holds everything that is drawn as one frozen `BenchView`. `actions` is the table of actions; their
functions are in a module for each subject and use a `Host`, no widget. `panes` draw the view; `screen` joins them.
Nothing here imports the application, and `store` and the actions do not import the screen.
"""
