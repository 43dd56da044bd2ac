"""File formats of sessions: one package per format, which recognises, reads, writes and validates an agent's files.

`registry` lists the formats, `files` opens a session, `export` writes one. Strategies, token counts and screens are
unknown here.
"""
