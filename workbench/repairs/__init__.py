"""Repaired copies of damaged sessions.

engine.py   repairs bytes, records and the context; each fix is a typed value (formats/fixes.py)
images.py   replaces images above the limits of the API
saving.py   saves the copy, and gives the steps that resume it
listing.py  a repair as lines of text
advice.py   advice to repair a session, with the command
"""
