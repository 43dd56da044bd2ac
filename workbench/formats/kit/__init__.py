"""What readers and writers of several formats share: bytes in, JSON lines and documents, blocks, times, titles, marks.

Nothing here knows a single format, and validators take nothing from here: they judge by rules of their own.
"""
