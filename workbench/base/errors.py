"""The exception whose message the user reads."""

from __future__ import annotations

from workbench.base.secrets import masked


class BadInput(Exception):
    """Unusable input of the user.

    The message is one sentence that names the file, the line if known, and the remedy. The command line prints it and
    exits with 2; the screen shows it in a dialog. Secrets in it are masked: it may quote an address, a line of a file
    or an answer of a server.
    """

    def __str__(self) -> str:
        return masked(super().__str__())
