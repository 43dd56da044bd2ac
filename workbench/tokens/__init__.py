"""Counting tokens offline, calibrated to the session's model and anchored on what its provider billed.

In: messages and a model's name. Out: `Counter` counts, `sizes_of` turns counts and bills into the figures of a context,
`find_model` knows models. It knows no file format and no strategy, and opens no connection; the tokenizer and the
database are imported when the first text is counted. How it is done: docs/tokens.md.
"""

from workbench.tokens.anchoring import (
    SessionMeter,
    billed_beyond,
    billed_points,
    calls_of,
    export_note_of,
    first_call,
    overhead_at,
    rescaled,
    session_sizes,
    sizes_of,
    span_basis,
    to_weigh,
)
from workbench.tokens.cache import CountCache
from workbench.tokens.calibration import Scale, family_of
from workbench.tokens.counting import Counter, Weight
from workbench.tokens.engine import Count, Engine, estimate_tokens, load_engine
from workbench.tokens.models import ModelInfo, Prices, all_models, plain_name
from workbench.tokens.models import find as find_model
from workbench.tokens.sizes import Basis, Meter, Size, Sizes, measure, visible_chars

__all__ = [
    "Basis",
    "Count",
    "CountCache",
    "Counter",
    "Engine",
    "Meter",
    "ModelInfo",
    "Prices",
    "Scale",
    "SessionMeter",
    "Size",
    "Sizes",
    "Weight",
    "all_models",
    "billed_beyond",
    "billed_points",
    "calls_of",
    "estimate_tokens",
    "export_note_of",
    "family_of",
    "find_model",
    "first_call",
    "load_engine",
    "measure",
    "overhead_at",
    "plain_name",
    "rescaled",
    "session_sizes",
    "sizes_of",
    "span_basis",
    "to_weigh",
    "visible_chars",
]
