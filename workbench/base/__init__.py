"""The ground floor: what every room needs and none may write again for itself.

In: plain values. Out: plain values, or `BadInput` with a sentence. It knows nothing of sessions, formats, policies or
screens, and imports from no other room.

crashes.py    tracebacks and logs without secrets
errors.py     the exception whose message a person reads
files.py      the one way anything is written
in_use.py     whether someone else still writes a file
paths.py      where the user's own files lie
plugins.py    what other packages offer, by name
resources.py  where the program's prompts and samples lie
secrets/      keys and passwords masked in what is shown: by their shape, name and place
stamps.py     times, read and written
figures.py    numbers as a person reads them
text.py       cutting to a length, nouns after a number
"""
