"""A repaired copy of a damaged session.

engine.py   bytes, records, what is sent; each fix as a typed value (formats/fixes.py)
images.py   images above the limits of the API
saving.py   the copy on disk, and the steps that resume it
listing.py  it in lines of text
advice.py   the command for a session that a repair would help
"""
