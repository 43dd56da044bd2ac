"""Read Gemini API bodies."""

from __future__ import annotations

from dataclasses import replace

from workbench.formats.bodies import request_in
from workbench.formats.gemini_body import ID
from workbench.formats.kit.conversation import Document
from workbench.session import Session


class Reader(Document):
    """Reader of one body, which is one epoch."""

    format = ID
    needs = "has no contents; open the body of a request to Gemini"

    def session(self) -> Session:
        request = request_in(self.document)
        if request is None or request.api != "gemini" or not request.messages:
            raise self.lacking()
        numbered = [replace(message, id=f"m{number}") for number, message in enumerate(request.messages, 1)]
        return self._session(numbered, model=request.model, tools=request.tools)
