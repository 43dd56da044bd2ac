"""Count the tokens of a session's messages: in the background, visible ones first, no text twice.

Each open session has one `Counter`, which holds the messages that it has seen. The cache keeps the counts of texts for
later sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import TYPE_CHECKING, NamedTuple

from workbench.session import Media, Message, Thinking, ToolResult, ToolUse
from workbench.tokens.cache import CountCache, text_key
from workbench.tokens.engine import FAMILY, Count, Engine, estimate_tokens, load_engine
from workbench.tokens.visible import visible_parts

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

IMAGE_TOKENS = 1_600
"""Flat estimate for an image of any size: what Claude bills for the largest (1 568 pixels a side). Smaller ones cost
less."""

DOCUMENT_BYTES_PER_TOKEN = 32
"""Encoded bytes of a PDF per token: about 75 kB a page, read as text and as an image. No rule is published."""

SLICE = 1_024
"""Most messages in a batch, which is looked up, counted and stored together."""

TOGETHER = 1 << 20
"""Characters of new texts at which a batch ends."""


class Weight(NamedTuple):
    """Figures of a message before calibration.

    `text`: o200k tokens of its texts. `media`: flat figure for images and documents. `signature`: characters of
    thinking signatures. `calls`, `results`: numbers of such blocks. `counted`: false while `text` is an estimate that
    counting will replace. `exact`: false for any estimate, including one made because the tokenizer failed.
    """

    text: int
    media: int = 0
    signature: int = 0
    calls: int = 0
    results: int = 0
    counted: bool = True
    exact: bool = True


class Counter:
    """Local token counts by message. `glance` never waits: it estimates messages that `count_all` has not reached.

    One thread may read while another runs `count_all`.
    """

    def __init__(self, cache: CountCache | None = None, engine: Callable[[], Engine] = load_engine) -> None:
        self.cache = cache
        self._engine = engine
        # By identity: hashing blocks would cost more than counting them, and two messages with one id may differ (a
        # compaction's abridged copy). The messages are held so that their identities are not reused.
        self._weights: dict[int, Weight] = {}
        self._held: dict[int, Message] = {}
        # Plain integers, which the garbage collector does not visit.
        self._tokens: dict[_Key, int] = {}
        self._guessed: set[_Key] = set()
        self._fresh: dict[bytes, int] = {}
        self._engine_used = False
        """True once the engine was used. Before that, a lookup in the cache is faster than loading the engine."""
        self._quick = False
        """True once the engine was used and counts texts faster than the cache finds them."""

    def glance(self, message: Message) -> Weight:
        """Return the message's weight: counted if known, else estimated. Keeps a reference to the message."""
        weight = self._weights.get(id(message))
        if weight is None:
            self._held[id(message)] = message
            # If another thread has counted it meanwhile, that count is kept.
            weight = self._weights.setdefault(id(message), guess(message))
        return weight

    def known(self, message: Message) -> Weight | None:
        """Weight of the message, None if it is not counted."""
        weight = self._weights.get(id(message))
        return weight if weight and weight.counted else None

    def know(self, message: Message, weight: Weight) -> None:
        """Store a weight that was counted earlier."""
        self._remember(message, weight)

    def forget(self, messages: Iterable[Message]) -> None:
        """Release messages; the counts of their texts stay."""
        for message in messages:
            self._weights.pop(id(message), None)
            self._held.pop(id(message), None)

    def weigh(self, message: Message) -> Weight:
        """Return the message's weight, counting it now if necessary. For a message not seen before only the counts of
        its texts are stored, because plans create thousands of messages."""
        seen = self._weights.get(id(message))
        if seen is not None and seen.counted:
            return seen
        parts = visible_parts(message)
        keyed = _keyed(parts)
        for key, text in keyed:
            if key not in self._tokens:
                self._count(key, text)
        weight = self._weight(message, parts, keyed)
        if seen is not None:
            self._remember(message, weight)
        return weight

    def local(self, message: Message) -> int:
        """O200k tokens of the message, media included; counts it now if necessary."""
        weight = self.weigh(message)
        return weight.text + weight.media

    def text(self, text: str) -> int:
        """O200k tokens of a text; counts it now if necessary."""
        key = _key(text)
        if key not in self._tokens:
            self._count(key, text)
        return self._tokens[key]

    def count_all(
        self,
        messages: Sequence[Message],
        progress: Callable[[int, int], None],
        cancelled: Callable[[], bool],
    ) -> bool:
        """Count the messages that are not counted yet, in the given order; return False if cancelled.

        `progress(done, total)` is called with numbers of messages after each batch; `cancelled` is called before each
        message. Finished counts are kept in memory, and in the cache unless the engine is quick and there are several
        batches. Raises BadInput if no tokenizer can be loaded.
        """
        from concurrent.futures import ThreadPoolExecutor

        done = 0
        with ThreadPoolExecutor(1, "counting") as executor:
            batches = self._batches(messages, cancelled, executor)
            # A batch is stored after the next one is prepared, because the tokenizer lets other threads run meanwhile.
            for batch, following in pairwise(chain(batches, [_Batch(0)])):
                self._put_away(batch, is_all=not done and not following.stop)
                done = batch.stop
                progress(done, len(messages))
        return done == len(messages)

    def _batches(
        self, messages: Sequence[Message], cancelled: Callable[[], bool], executor: Executor
    ) -> Iterator[_Batch]:
        """Yield batches of messages that `executor` counts, until cancelled."""
        known, before, stop = self._tokens, _Batch(0), 0
        while stop < len(messages) and not cancelled():
            batch, chars, texts = _Batch(stop), 0, dict[_Key, str]()
            for message in messages[stop : stop + SLICE]:
                if chars >= TOGETHER or (batch.stop > stop and cancelled()):
                    break
                batch.stop += 1
                seen = self._weights.get(id(message))
                if seen is None or not seen.counted:
                    parts = visible_parts(message)
                    keyed = _keyed(parts)
                    batch.waiting.append((message, parts, keyed))
                    new = [(key, text) for key, text in keyed if key not in known and key not in before.texts]
                    texts.update(new)
                    chars += sum(len(text) for _, text in new)
            if self.cache is not None and not (self._quick and stop):
                batch.names = {key: text_key(text, FAMILY) for key, text in texts.items() if len(text) > SHORT}
                kept = self.cache.get([*batch.names.values()])
                known.update((key, kept[name]) for key, name in batch.names.items() if name in kept)
            batch.texts = {key: text for key, text in texts.items() if key not in known}
            if batch.texts:
                self._engine_used = True  # the cache has been searched for every text so far
                batch.counts = executor.submit(self._counts, [*batch.texts.values()])
            yield batch
            before, stop = batch, batch.stop

    def _counts(self, texts: Sequence[str]) -> list[Count]:
        engine = self._engine()
        self._quick = engine.quick
        return [*engine.counts(texts)]

    def _put_away(self, batch: _Batch, *, is_all: bool) -> None:
        if batch.counts is not None:
            names = batch.names if is_all or not self._quick else {}
            for key, count in zip(batch.texts, batch.counts.result(), strict=True):
                self._take(key, count, names.get(key))
        for message, parts, keyed in batch.waiting:
            self._remember(message, self._weight(message, parts, keyed))
        self.save()

    def save(self) -> None:
        """Write new counts to the cache, if there is one."""
        fresh, self._fresh = self._fresh, {}
        if self.cache is not None:
            self.cache.put(fresh)

    def _count(self, key: _Key, text: str) -> None:
        name = text_key(text, FAMILY) if self.cache is not None and len(text) > SHORT else None
        if not self._engine_used and self.cache is not None and name and (kept := self.cache.get((name,))):
            self._tokens[key] = kept[name]
            return
        self._engine_used = True
        self._take(key, self._engine().count(text), name)

    def _take(self, key: _Key, count: Count, name: bytes | None) -> None:
        """Store a count. `name`: the text's key in the cache, None if the count is not to be cached."""
        self._tokens[key] = count.tokens
        if not count.exact:
            self._guessed.add(key)
        elif name:
            self._fresh[name] = count.tokens

    def _weight(self, message: Message, parts: Sequence[str | Media], keyed: Sequence[tuple[_Key, str]]) -> Weight:
        tokens = self._tokens
        exact = not self._guessed or self._guessed.isdisjoint(key for key, _ in keyed)
        return _weight(message, parts, sum([tokens[key] for key, _ in keyed]), counted=True, exact=exact)

    def _remember(self, message: Message, weight: Weight) -> None:
        self._held[id(message)] = message
        self._weights[id(message)] = weight


_Key = int
"""Hash of a text, valid in this process only, and its length, in one integer."""

SHORT = 32
"""Longest text, in characters, that is counted faster than it is looked up on disk."""


@dataclass(slots=True)
class _Batch:
    """Batch: the messages up to index `stop`. `waiting`: uncounted messages, each with its visible parts and its texts
    by key. `texts`: texts without a known count. `names`: keys in the cache of the texts that were looked up. `counts`:
    counts of `texts`, once the engine has finished."""

    stop: int
    waiting: list[tuple[Message, list[str | Media], list[tuple[_Key, str]]]] = field(default_factory=list)
    texts: dict[_Key, str] = field(default_factory=dict)
    names: dict[_Key, bytes] = field(default_factory=dict)
    counts: Future[list[Count]] | None = None


def _key(text: str) -> _Key:
    return hash(text) << 32 | len(text)


def _keyed(parts: Sequence[str | Media]) -> list[tuple[_Key, str]]:
    return [(_key(part), part) for part in parts if isinstance(part, str)]


def guess(message: Message) -> Weight:
    """Weight of the message estimated from its characters alone, whatever has been counted."""
    parts = visible_parts(message)
    text = sum(estimate_tokens(part) for part in parts if isinstance(part, str))
    return _weight(message, parts, text, counted=False, exact=False)


def media_tokens(media: Media) -> int:
    """Flat estimate: the data is never decoded, so pixels and pages are unknown."""
    if media.media_type.startswith("image/"):
        return IMAGE_TOKENS
    return max(IMAGE_TOKENS, media.size // DOCUMENT_BYTES_PER_TOKEN)


def _weight(message: Message, parts: Sequence[str | Media], text: int, *, counted: bool, exact: bool) -> Weight:
    signature = calls = results = 0
    for block in message.blocks:
        if isinstance(block, ToolUse):
            calls += 1
        elif isinstance(block, ToolResult):
            results += 1
        elif isinstance(block, Thinking):
            signature += len(block.signature)
    media = sum([media_tokens(part) for part in parts if not isinstance(part, str)])
    return Weight(text, media, signature, calls, results, counted, exact)
