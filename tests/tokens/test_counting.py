from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from tests.tokens.sessions import Letters, answer, counted, result, user
from workbench.session import Media, Message, Opaque, Text, Thinking, ToolResult
from workbench.tokens import Count, CountCache, Counter, Engine, estimate_tokens
from workbench.tokens.counting import IMAGE_TOKENS, SLICE, TOGETHER, Weight, guess, media_tokens


def no_engine() -> Engine:
    raise AssertionError("everything should have come from the cache")


def quiet(done: int, total: int) -> None:
    """For tests that do not watch."""


def never() -> bool:
    return False


MIXED = [
    user("1", "Please look at the picture and at what lies beside it."),
    answer("2", "Certainly, looking at it now, it may take a while.", calls=2),
    result("3", "2-0", "a listing of a folder " * 20),
    Message("4", "tool", (ToolResult("2-1", (Text("seen"), Media("image/png", 40_000))),)),
    Message(
        "5", "assistant", (Thinking("a thought that is longer than a short text", "s" * 300), Opaque("new", {"k": 1}))
    ),
]


def test_a_weight_is_the_sum_of_what_a_model_reads() -> None:
    counter = Counter(engine=Letters)
    assert counter.weigh(MIXED[1]) == Weight(50 + 2 * (3 + 7), calls=2)
    assert counter.weigh(MIXED[3]) == Weight(4, media=IMAGE_TOKENS, results=1)
    assert counter.weigh(MIXED[4]) == Weight(42 + len('{"k":1}'), signature=300)
    assert counter.local(MIXED[3]) == 4 + IMAGE_TOKENS
    assert counter.weigh(Message("b", "system", (Text("gone"),), "boundary")) == Weight(0)


def test_real_counts_by_tiktoken() -> None:
    assert Counter().local(user("1", "hello world")) == 2


def test_media_are_flat_figures() -> None:
    assert media_tokens(Media("image/jpeg", 5_000_000)) == IMAGE_TOKENS
    assert media_tokens(Media("application/pdf", 0)) == IMAGE_TOKENS
    assert media_tokens(Media("application/pdf", 3_200_000)) == 100_000


def test_a_glance_never_counts_and_counting_replaces_it() -> None:
    counter = Counter(engine=no_engine)
    seen = counter.glance(MIXED[0])
    assert (seen.counted, seen.exact) == (False, False)
    assert seen.text == estimate_tokens("Please look at the picture and at what lies beside it.")
    assert counter.glance(MIXED[0]) is seen

    counter = Counter(engine=Letters)
    counter.glance(MIXED[0])
    assert counter.weigh(MIXED[0]).counted
    assert counter.glance(MIXED[0]) == Weight(54)


def test_a_forgotten_message_is_counted_again_from_the_counts_of_its_texts() -> None:
    counter = counted(MIXED[:2])
    counter.forget(MIXED[:1])
    assert counter.known(MIXED[0]) is None
    assert counter.known(MIXED[1]) is not None
    assert not counter.glance(MIXED[0]).counted
    counter.forget(MIXED)  # also what is not known


def test_two_messages_of_one_id_are_two_messages() -> None:
    counter = counted([user("1", "the long original")])
    assert counter.local(user("1", "abridged")) == 8
    assert counter.local(user("1", "the long original")) == 17


def test_progress_tells_every_slice_and_ends_at_the_end() -> None:
    messages = [user(str(i), f"message number {i}") for i in range(2 * SLICE + 5)]
    told: list[tuple[int, int]] = []
    assert Counter(engine=Letters).count_all(messages, lambda *at: told.append(at), never)
    assert told == [(SLICE, len(messages)), (2 * SLICE, len(messages)), (len(messages), len(messages))]


def test_cancelling_keeps_what_was_counted_and_in_the_order_asked_for(tmp_path: Path) -> None:
    messages = [user(str(i), f"a message that is long enough to be remembered, number {i}") for i in range(10)]
    asked = 0

    def after_four() -> bool:
        nonlocal asked
        asked += 1
        return asked > 4

    counter = Counter(CountCache(tmp_path / "c"), Letters)
    assert not counter.count_all(messages[::-1], quiet, after_four)
    assert [counter.glance(m).counted for m in messages] == [False] * 6 + [True] * 4
    again = Counter(CountCache(tmp_path / "c"), no_engine)
    assert again.count_all(messages[6:], quiet, never)


def test_texts_are_counted_in_handfuls_of_so_many_characters() -> None:
    handfuls: list[list[int]] = []

    class Watched(Letters):
        def counts(self, texts: Sequence[str]) -> Iterable[Count]:
            handfuls.append([len(text) for text in texts])
            return super().counts(texts)

    sizes = [TOGETHER - 1, 1, 40, TOGETHER, TOGETHER - 40, 41, 7]
    messages = [user(str(number), "x" * size) for number, size in enumerate(sizes)]
    counter = Counter(engine=Watched)
    assert counter.count_all(messages, quiet, never)
    assert handfuls == [sizes[:2], [40, TOGETHER], [TOGETHER - 40, 41], [7]]
    assert [counter.local(message) for message in messages] == sizes


def test_a_second_run_needs_no_tokenizer(tmp_path: Path) -> None:
    long = [user("1", "a text that is longer than thirty-two characters"), user("2", "日本語 \ud800 " * 20)]
    first = Counter(CountCache(tmp_path / "c"), Letters)
    first.count_all(long, quiet, never)
    second = Counter(CountCache(tmp_path / "c"), no_engine)
    assert second.count_all(long, quiet, never)
    assert [second.local(m) for m in long] == [first.local(m) for m in long] == [48, 120]


class Quick(Letters):
    quick = True


@pytest.mark.parametrize(("many", "are_kept"), [(SLICE, True), (SLICE + 1, False)])
def test_what_a_quick_engine_counts_in_one_go_is_kept(tmp_path: Path, many: int, are_kept: bool) -> None:
    messages = [user(str(i), f"a text that is longer than a short one, number {i}") for i in range(many)]
    assert Counter(CountCache(tmp_path / "c"), Quick).count_all(messages, quiet, never)
    again = Counter(CountCache(tmp_path / "c"), no_engine)
    if not are_kept:
        with pytest.raises(AssertionError, match="should have come from the cache"):
            again.count_all(messages[:1], quiet, never)
        return
    assert again.count_all(messages, quiet, never)
    assert [again.local(message) for message in messages] == [len(message.text) for message in messages]


def test_a_slow_engine_is_spared_every_text_that_is_kept(tmp_path: Path) -> None:
    messages = [user(str(i), f"a text that is longer than a short one, number {i}") for i in range(SLICE + 1)]
    assert Counter(CountCache(tmp_path / "c"), Letters).count_all(messages, quiet, never)
    assert Counter(CountCache(tmp_path / "c"), no_engine).count_all(messages, quiet, never)


def test_a_quick_engine_that_is_awake_is_spared_what_is_looked_up_in_one_go(tmp_path: Path) -> None:
    kept = user("1", "a text that is longer than thirty-two characters")
    assert Counter(CountCache(tmp_path / "c"), Quick).count_all([kept], quiet, never)
    engine = Seen()
    counter = Counter(CountCache(tmp_path / "c"), lambda: engine)
    assert counter.count_all([user("2", "another text that is longer than thirty-two")], quiet, never)
    assert counter.count_all([kept], quiet, never)
    assert engine.texts == ["another text that is longer than thirty-two"]


class Seen(Quick):
    def __init__(self) -> None:
        self.texts: list[str] = []

    def count(self, text: str) -> Count:
        self.texts.append(text)
        return super().count(text)


def test_a_broken_cache_changes_no_count(tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(b"rubbish" * 1_000)
    cache = CountCache(tmp_path / "c")
    counter = Counter(cache, Letters)
    assert counter.count_all(MIXED, quiet, never)
    assert [counter.glance(m) for m in MIXED] == [Counter(engine=Letters).weigh(m) for m in MIXED]
    assert cache.trouble


def test_a_count_that_failed_stays_an_estimate_and_is_not_cached(tmp_path: Path) -> None:
    class Fails(Letters):
        def count(self, text: str) -> Count:
            return Count(9, exact="bad" not in text)

    messages = [
        user("1", "a good text of more than thirty-two characters"),
        user("2", "a bad text of more than that: " + "y" * 30),
    ]
    counter = Counter(CountCache(tmp_path / "c"), Fails)
    counter.count_all(messages, quiet, never)
    assert [counter.glance(m) for m in messages] == [Weight(9), Weight(9, exact=False)]
    assert not counter.weigh(user("3", messages[1].text)).exact

    again = Counter(CountCache(tmp_path / "c"), Letters)
    again.count_all(messages, quiet, never)
    assert [again.local(m) for m in messages] == [9, 60]


def test_no_text_is_counted_twice() -> None:
    class Once(Letters):
        seen: set[str] = set()  # noqa: RUF012

        def count(self, text: str) -> Count:
            assert text not in self.seen
            self.seen.add(text)
            return super().count(text)

    engine = Once()
    counter = Counter(engine=lambda: engine)
    twice = [*MIXED, *[Message(m.id + "copy", m.role, m.blocks) for m in MIXED]]
    assert counter.count_all(twice, quiet, never)
    assert counter.count_all(twice, quiet, never)
    assert counter.text("hello") == counter.text("hello") == 5
    assert counter.count_all([user(str(number), "said in every handful") for number in range(3 * SLICE)], quiet, never)


@pytest.mark.parametrize("message", MIXED, ids=lambda m: m.id)
def test_a_guess_does_not_depend_on_what_was_counted(message: Message) -> None:
    before = guess(message)
    counted(MIXED)
    assert guess(message) == before
    assert before._replace(text=0, counted=True, exact=True) == Counter(engine=Letters).weigh(message)._replace(text=0)


def test_a_text_that_is_kept_needs_no_engine(tmp_path: Path) -> None:
    cache = CountCache(tmp_path / "counts.sqlite")
    text = "a text that is longer than a short one"
    first = Counter(cache, Letters)
    assert (first.text(text), cache.get(())) == (len(text), {})
    first.save()
    again = Counter(cache, no_engine)
    assert again.text(text) == len(text)
    with pytest.raises(AssertionError, match="should have come from the cache"):
        again.text("another one that nobody has counted before")


class Searches(CountCache):
    """Cache that notes how many texts each search asks for."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.searches: list[int] = []

    def get(self, keys: Sequence[bytes]) -> dict[bytes, int]:
        self.searches.append(len(keys))
        return super().get(keys)


def test_once_the_engine_has_counted_a_batch_single_texts_are_not_looked_up(tmp_path: Path) -> None:
    """Before, a search is faster than loading the engine; afterwards, counting is."""
    cache = Searches(tmp_path / "counts")
    Counter(cache, engine=Letters).text("a text that is longer than a short one")
    assert cache.searches == [1]
    counter = Counter(cache, engine=Letters)
    assert counter.count_all([user("1", "another text that is longer than a short one")], quiet, never)
    assert counter.text("a third text that is longer than a short one") == 44
    assert cache.searches == [1, 1]
