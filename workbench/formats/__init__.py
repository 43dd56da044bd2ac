"""On-disk formats: a package for each, which recognises, reads, writes and judges the files of one tool.

In come a file's bytes; out goes a `Session`, and of a session and a context the bytes of a new file.
`registry` lists the formats, `files` opens a session, `export` writes one. Not known here: strategies, tokens, screens.
"""
