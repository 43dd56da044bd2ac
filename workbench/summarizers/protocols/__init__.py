"""Protocols of models' servers: opening a client, building a request, receiving an answer."""

from __future__ import annotations
