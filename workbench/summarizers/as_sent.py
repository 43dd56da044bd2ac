"""What a request comes to on its way: just what a summarizer is given, or what a server is sent."""

from __future__ import annotations

import json

from workbench.base.secrets import masked_value
from workbench.compaction.conversation import MessagesBody
from workbench.compaction.summary_request import SummaryRequest
from workbench.session import Session
from workbench.summarizers.live import SPOKEN
from workbench.summarizers.named import Name, way_of
from workbench.summarizers.patience import limits_of
from workbench.summarizers.server_forms import form_of


def as_sent(request: SummaryRequest, name: Name, session: Session) -> str:
    """The text of a request; the whole body as JSON, though that is streamed, where messages or tools go to a server.
    Raises BadInput where they cannot be sent, or the settings are broken."""
    if name.kind == "server":
        whom = name.connection
        most = request.max_output_tokens or limits_of(whom).max_output
        return _json(form_of(whom, *way_of(name)).body(session, request, name.model, most))
    if name.streams and (request.tools or isinstance(request.body, MessagesBody)):
        whom = name.connection
        spoken = SPOKEN[whom.protocol]
        most = request.max_output_tokens or limits_of(whom).max_output
        return _json(spoken.body(request, name.model, spoken.sending(request, session), most, ()))
    return request.shown


def _json(body: object) -> str:
    """Masked before it is JSON, whose escapes would hide secrets."""
    return json.dumps(masked_value(body), ensure_ascii=False, indent=1)
