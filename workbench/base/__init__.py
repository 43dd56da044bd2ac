"""Files, paths, secrets, times, text and tables: shared by every room.

It knows nothing of sessions, formats, policies or screens, and imports from no other room.

crashes.py         tracebacks and logs without secrets
disk_cache.py      files that only save time, one per session
environment.py     variables of the environment
errors.py          the exception whose message the user reads
figures.py         numbers as text
files.py           atomic writes
in_use.py          detection of files still being written
parallel.py        work on all cores, or on a Dask cluster
paths.py           folders of the user's files
plugins.py         entry points of other distributions
printable.py       text of a session, safe to print
reading.py         files opened without blocking
resources.py       folders of prompts and samples
secrets/           keys and passwords masked by their shape, name and place
session_caches.py  caches of functions on a session's texts
shielded.py        writes that survive cancellation
spreadsheet.py     CSV
stamps.py          time stamps, read and written
tables.py          a result as text, Markdown, HTML, JSON and CSV
templates.py       HTML templates
text.py            text cut to a length, nouns after a number
user_settings.py   config.toml
values.py          decoded JSON
"""
