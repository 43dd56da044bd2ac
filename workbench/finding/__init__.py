"""Search for sessions on this machine, in the places of every format or below a folder, and following of a growing
file.

Returns `SessionGlance`s, each read in part, and marks by which changes are noticed. Files are not changed, locked or
held open. Format names, strategies, token counts and screens are unknown here.
"""
