"""The one exception a person is meant to read."""


class BadInput(Exception):
    """Something the user gave cannot be used.

    The message is one sentence that names the file, the line where one is known, and the remedy.
    The command line prints it and exits with 2; the screen shows it in a dialog.
    """
