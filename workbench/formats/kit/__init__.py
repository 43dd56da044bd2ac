"""Building blocks shared by readers and writers of several formats: JSON lines, documents, blocks, times, titles,
marks.

No module here depends on a single format. Validators import nothing from here: their rules are independent.
"""
