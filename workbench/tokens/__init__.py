"""Count tokens offline, calibrated to the session's model and anchored on the provider's usage.

From messages and a model's name, `Counter` counts, `sizes_of` turns counts and usage into the figures of a context, and
`find_model` returns facts about models. No file format and no strategy is used here, and no connection is opened.
Tokenizer and database are imported when the first text is counted. Method: docs/tokens.md.
"""

from workbench.tokens.anchoring import (
    SessionMeter,
    billed_beyond,
    billed_points,
    export_note_of,
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
from workbench.tokens.fitting import calls_of, first_call, overhead_at
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
