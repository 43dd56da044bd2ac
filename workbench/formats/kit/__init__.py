"""Building blocks shared by readers and writers of several formats: JSON lines, documents, databases, blocks,
usage, names, marks, limits and repairs.

No module here depends on a single format. Validators import nothing from here: their rules are independent.
"""
