"""Repaired copies of damaged sessions.

engine.py   repairs bytes, records and the context; each fix is a typed value (formats/fixes.py)
images.py   images in records; replaces those above the limits of the API
result.py   the fixes as lines of text, the saved copy, and the steps that resume it
advice.py   advice to repair a session, with the command
"""
