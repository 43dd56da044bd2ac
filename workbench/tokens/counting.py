"""Count the tokens of a session's messages: in the background, visible ones first, no text twice.

One `Counter` serves one open session: it holds the messages it has seen. The counts of texts outlive it in the cache.
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
"""An image, whatever its size: what Claude bills for one that fills its 1 568 pixels; small ones cost less."""

DOCUMENT_BYTES_PER_TOKEN = 32
"""Encoded bytes of a PDF per token: about 75 kB a page, read as text and as an image. No rule is published."""

SLICE = 1_024
"""Messages that are looked up in the cache, counted and remembered together, at most."""

TOGETHER = 1 << 20
"""Characters of texts from which on no more messages are taken together."""


class Weight(NamedTuple):
    """Figures of a message before calibration.

    `text` is o200k tokens of its texts, `media` a flat figure for images and documents, `signature` characters of
    thinking signatures, `calls` and `results` the numbers of such blocks. `counted` is false while `text` is a guess
    that counting will still replace; `exact` is false for any guess, the tokenizer's failures included.
    """

    text: int
    media: int = 0
    signature: int = 0
    calls: int = 0
    results: int = 0
    counted: bool = True
    exact: bool = True


class Counter:
    """Local counts by message. Reads never wait: `glance` estimates what `count_all` has not reached.

    Safe to read from one thread while another runs `count_all`.
    """

    def __init__(self, cache: CountCache | None = None, engine: Callable[[], Engine] = load_engine) -> None:
        self.cache = cache
        self._engine = engine
        # By identity: hashing blocks would cost more than counting them, and two messages of one id may differ (a
        # compaction's abridged copy). The messages are held so that their addresses are not given to others.
        self._weights: dict[int, Weight] = {}
        self._held: dict[int, Message] = {}
        # Plain integers, so that the garbage collector has nothing to walk.
        self._tokens: dict[_Key, int] = {}
        self._guessed: set[_Key] = set()
        self._fresh: dict[bytes, int] = {}
        self._asked = False
        """True once the engine was used; loading it takes longer than looking up a few texts."""
        self._quick = False
        """True once the engine was used and is quick: it counts many texts sooner than they are looked up."""

    def glance(self, message: Message) -> Weight:
        """Return the message's weight without counting: counted if known, else estimated. Holds the message."""
        weight = self._weights.get(id(message))
        if weight is None:
            self._held[id(message)] = message
            # Another thread may have counted it meanwhile: its count stays.
            weight = self._weights.setdefault(id(message), guess(message))
        return weight

    def known(self, message: Message) -> Weight | None:
        """The message's weight if it is counted."""
        weight = self._weights.get(id(message))
        return weight if weight and weight.counted else None

    def know(self, message: Message, weight: Weight) -> None:
        """Take a weight as counted that was counted before."""
        self._remember(message, weight)

    def forget(self, messages: Iterable[Message]) -> None:
        """Release messages; the counts of their texts stay."""
        for message in messages:
            self._weights.pop(id(message), None)
            self._held.pop(id(message), None)

    def weigh(self, message: Message) -> Weight:
        """The message's weight, counted now if need be. A message not seen before is not remembered, its texts are:
        plans make new messages by the thousand."""
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
        """Tokens of the message by o200k, media included, counted now if need be."""
        weight = self.weigh(message)
        return weight.text + weight.media

    def text(self, text: str) -> int:
        """O200k tokens of a text, counted now if need be."""
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
        """Count what is not counted yet, in the order given; False when cancelled.

        `progress` gets (messages done, messages in all) after every handful; `cancelled` is asked before every message.
        What was counted until then is kept, in memory and, unless it is much and the engine quick, in the cache. Raises
        BadInput when no tokenizer can be built.
        """
        from concurrent.futures import ThreadPoolExecutor

        done = 0
        with ThreadPoolExecutor(1, "counting") as executor:
            handfuls = self._handfuls(messages, cancelled, executor)
            # Each is put away when the next has been made ready, for a tokenizer lets other threads run meanwhile.
            for handful, following in pairwise(chain(handfuls, [_Handful(0)])):
                self._put_away(handful, is_all=not done and not following.stop)
                done = handful.stop
                progress(done, len(messages))
        return done == len(messages)

    def _handfuls(
        self, messages: Sequence[Message], cancelled: Callable[[], bool], executor: Executor
    ) -> Iterator[_Handful]:
        """Yield batches of messages that `executor` counts, until cancelled."""
        known, before, stop = self._tokens, _Handful(0), 0
        while stop < len(messages) and not cancelled():
            handful, chars, texts = _Handful(stop), 0, dict[_Key, str]()
            for message in messages[stop : stop + SLICE]:
                if chars >= TOGETHER or (handful.stop > stop and cancelled()):
                    break
                handful.stop += 1
                seen = self._weights.get(id(message))
                if seen is None or not seen.counted:
                    parts = visible_parts(message)
                    keyed = _keyed(parts)
                    handful.waiting.append((message, parts, keyed))
                    new = [(key, text) for key, text in keyed if key not in known and key not in before.texts]
                    texts.update(new)
                    chars += sum(len(text) for _, text in new)
            if self.cache is not None and not (self._quick and stop):
                handful.names = {key: text_key(text, FAMILY) for key, text in texts.items() if len(text) > SHORT}
                kept = self.cache.get([*handful.names.values()])
                known.update((key, kept[name]) for key, name in handful.names.items() if name in kept)
            handful.texts = {key: text for key, text in texts.items() if key not in known}
            if handful.texts:
                self._asked = True  # all that is kept has been looked up
                handful.counts = executor.submit(self._counts, [*handful.texts.values()])
            yield handful
            before, stop = handful, handful.stop

    def _counts(self, texts: Sequence[str]) -> list[Count]:
        engine = self._engine()
        self._quick = engine.quick
        return [*engine.counts(texts)]

    def _put_away(self, handful: _Handful, *, is_all: bool) -> None:
        if handful.counts is not None:
            names = handful.names if is_all or not self._quick else {}
            for key, count in zip(handful.texts, handful.counts.result(), strict=True):
                self._take(key, count, names.get(key))
        for message, parts, keyed in handful.waiting:
            self._remember(message, self._weight(message, parts, keyed))
        self.save()

    def save(self) -> None:
        """Put what was counted into the cache, if there is one."""
        fresh, self._fresh = self._fresh, {}
        if self.cache is not None:
            self.cache.put(fresh)

    def _count(self, key: _Key, text: str) -> None:
        name = text_key(text, FAMILY) if self.cache is not None and len(text) > SHORT else None
        if not self._asked and self.cache is not None and name and (kept := self.cache.get((name,))):
            self._tokens[key] = kept[name]
            return
        self._asked = True
        self._take(key, self._engine().count(text), name)

    def _take(self, key: _Key, count: Count, name: bytes | None) -> None:
        """`name` is the text's in the cache, None where it is not kept there."""
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
"""A text's hash, as Python has it in this run, and its length."""

SHORT = 32
"""Characters up to which a text is cheaper to count than to look up on disk."""


@dataclass(slots=True)
class _Handful:
    """Messages up to `stop` that are counted together: those that wait for it, each with what a model reads of it and
    its texts by their keys; `texts` are those that are not known, `counts` theirs when they are there. `names` are what
    texts are called in the cache, where they were looked up."""

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
    """The message's weight from its characters alone, the same whatever has been counted."""
    parts = visible_parts(message)
    text = sum(estimate_tokens(part) for part in parts if isinstance(part, str))
    return _weight(message, parts, text, counted=False, exact=False)


def media_tokens(media: Media) -> int:
    """Flat estimate: the bytes are never decoded, so pixels and pages are unknown."""
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
