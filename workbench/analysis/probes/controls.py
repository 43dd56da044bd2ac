"""Control questions, which no context answers: they resemble the others but ask about invented things, so that any
answer is made up."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.analysis.probes.probe import BLANK, Probe

_TEMPLATES = (
    "In which file did the agent define `{symbol}`?",
    'Fill in the blank (from a user message): "Keep the {thing} below ' + BLANK + ' entries."',
    "Which command did the agent run to rebuild the {thing}?",
    'The agent asked: "Where should the {thing} be kept?" What did the user answer?',
    'Fill in the blank (from an error message): "{error}: could not open ' + BLANK + '"',
    "Which file did the agent delete because the {thing} had replaced it?",
    "How many seconds did the user allow for the {thing} to start?",
    'Fill in the blank (from a rule of the user): "Before touching the {thing}, run ' + BLANK + '."',
)
_NAMES = (
    ("stitch_ferry_ledger", "tide ledger", "FerryLedgerError"),
    ("prune_orchard_index", "orchard index", "OrchardIndexError"),
    ("hydrateBeaconQueue", "beacon queue", "BeaconQueueError"),
    ("reconcile_harbour_map", "harbour map", "HarbourMapError"),
    ("foldLanternCache", "lantern cache", "LanternCacheError"),
    ("audit_meadow_quota", "meadow quota", "MeadowQuotaError"),
    ("mirrorGlacierPool", "glacier pool", "GlacierPoolError"),
    ("throttle_comet_feed", "comet feed", "CometFeedError"),
    ("sweepPaddockTable", "paddock table", "PaddockTableError"),
    ("graft_violet_schema", "violet schema", "VioletSchemaError"),
)
"""Invented names."""

MOST = len(_TEMPLATES)


def controls(text: str, count: int) -> Iterator[Probe]:
    """Yield `count` questions, at most `MOST`, about things that `text`, the whole context, does not name."""
    low = text.lower()
    free = [names for names in _NAMES if not any(name.lower() in low for name in names)]
    for template, (symbol, thing, error) in zip(_TEMPLATES[:count], free, strict=False):
        yield Probe("control", template.format(symbol=symbol, thing=thing, error=error), "")
