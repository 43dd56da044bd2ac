"""How each kind of API is spoken: opening its client, what is sent for a request, and hearing one answer."""

from __future__ import annotations
