"""The screen: draws what the rooms below know, and turns keys into their functions.

In come a session or a path, what a person set (`settings`) and what the screen remembers of earlier starts (`home`);
out go steps of `workbench.bench`, files that a person asks for, and the work that is written down. No rule of
compaction is in here, and no format or strategy is named: what is particular about one comes from its `Format` or
`Strategy`. What takes long is a worker of the screen that shows it, which looks whether it is still wanted.

`app` opens and shows sessions, `bench` is the one screen that everything starts from, `screens` are the others,
`middle` makes what the middle pane shows, `widgets` know none of these. The modules beside them are pure: words, rows
and lines that tests read without a screen.
"""
