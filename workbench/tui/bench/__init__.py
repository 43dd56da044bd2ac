"""The bench: the one screen on which a session's compaction is planned, shaped, run and judged.

In come a `workbench.bench.Bench` and what is known of its file; out go the screens that a key asks for and messages to
the application. `store` holds everything that is drawn as one frozen `View`; `actions` is the table of what can be
done, its functions are in the modules by subject and know a `Host`, no widget; `panes` draw the view; `screen` joins
them.
Nothing here may know the application, and `store` and the actions may not know the screen.
"""
