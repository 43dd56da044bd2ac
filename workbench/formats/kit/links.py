"""Records that name the record before them: dangling or repeated links, and the branch that an agent loads.

Each record has an id and its parent's under keys that the format names. A parent counts only if it is before its child
in the file, as the agents' loaders require.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from uuid import uuid4

from msgspec import Struct

from workbench.base.errors import BadInput
from workbench.formats.fixes import Branch, Fault
from workbench.formats.kit.sheet import RepairSheet, SheetEntry, new_entry


class Links(Struct, frozen=True):
    """Link fields and rules of a format.

    `linked`: True if a record is part of the chain. `is_message`: True if it is a message. `restarts`: True if it
    begins a new chain, as a boundary does. `is_result`: True if it holds a tool result; a result that follows its call
    next to a continuing chain is no branch. `new_id` makes an id.
    """

    id: str
    parent: str
    linked: Callable[[SheetEntry], bool]
    is_message: Callable[[SheetEntry], bool]
    restarts: Callable[[SheetEntry], bool] = lambda entry: False
    is_result: Callable[[SheetEntry], bool] = lambda entry: False
    new_id: Callable[[], str] = lambda: str(uuid4())

    def id_of(self, entry: SheetEntry) -> str:
        found = entry.object.get(self.id)
        return found if isinstance(found, str) else ""

    def parent_of(self, entry: SheetEntry) -> str:
        found = entry.object.get(self.parent)
        return found if isinstance(found, str) else ""

    def chain(self, sheet: RepairSheet) -> list[SheetEntry]:
        return [entry for entry in sheet.entries if self.linked(entry)]

    def insert_before(self, sheet: RepairSheet, entry: SheetEntry, new: SheetEntry) -> None:
        """Insert a record between another and its parent."""
        new.put((self.parent,), entry.object.get(self.parent))
        entry.put((self.parent,), self.id_of(new))
        sheet.entries.insert(sheet.index(entry), new)

    def append(self, sheet: RepairSheet, last: SheetEntry, new: SheetEntry) -> None:
        """Insert a record after the last one."""
        new.put((self.parent,), self.id_of(last))
        sheet.insert_after(last, new)

    def unlink(self, sheet: RepairSheet, entry: SheetEntry) -> None:
        """Link the records that follow a record to its parent."""
        id, parent = self.id_of(entry), entry.object.get(self.parent)
        for other in self.chain(sheet):
            if other is not entry and id and self.parent_of(other) == id:
                other.put((self.parent,), parent)

    def remove(self, sheet: RepairSheet, entry: SheetEntry) -> None:
        self.unlink(sheet, entry)
        sheet.drop(lambda one: one is entry)

    def new_record(self, value: dict[str, object], place: int) -> SheetEntry:
        """Return a new record of the chain, with an id of its own."""
        return new_entry({**value, self.id: self.new_id(), self.parent: None}, place)


def link(sheet: RepairSheet, links: Links) -> None:
    """Remove copies, replace repeated ids, link dangling records to the record before them, and make the branch that
    the user chose the newest. Fills `sheet.branches` if there are several, and links were damaged or the user chose
    one.

    Raises BadInput if no branch ends on the chosen line.
    """
    drop_copies(sheet, links.chain(sheet))
    chain = links.chain(sheet)
    live = next((entry for entry in reversed(chain) if links.is_message(entry)), None)
    by_id: dict[str, SheetEntry] = {}
    renamed: dict[str, str] = {}
    tree = _Tree()
    before: SheetEntry | None = None
    damaged = False
    for entry in chain:
        parent = links.parent_of(entry)
        if parent in renamed:
            parent = renamed[parent]
            entry.put((links.parent,), parent)
        damaged |= _ensure_own_id(sheet, links, entry, by_id, renamed)
        if entry.object.get(links.parent) is not None and parent not in by_id:
            damaged = True
            parent = links.id_of(before) if before else ""
            entry.put((links.parent,), parent or None)
            sheet.fixed(Fault.DANGLING_PARENT, entry, sheet.named(before) if before else "nothing")
        above = links.id_of(before) if before and links.restarts(entry) else parent
        tree.add(links, entry, above)
        by_id[links.id_of(entry)] = before = entry
    if live is not None and (damaged or sheet.branch is not None):
        _choose_branch(sheet, links, tree, live, longest=damaged)


def drop_copies(sheet: RepairSheet, chain: Sequence[SheetEntry]) -> None:
    """Remove records that occur in the file twice, byte for byte."""
    seen: dict[bytes, SheetEntry] = {}
    copies: set[SheetEntry] = set()
    for entry in chain:
        first = seen.setdefault(entry.raw.strip(), entry)
        if first is not entry:
            copies.add(entry)
            sheet.fixed(Fault.REPEATED_RECORD, entry, sheet.named(first))
    if copies:
        sheet.drop(lambda entry: entry in copies)


def _ensure_own_id(
    sheet: RepairSheet, links: Links, entry: SheetEntry, by_id: dict[str, SheetEntry], renamed: dict[str, str]
) -> bool:
    """Give a record a new id if it has none, or the id of an earlier record. Return True if its id changed."""
    id = links.id_of(entry)
    if id and id not in by_id:
        return False
    new_id = links.new_id()
    entry.put((links.id,), new_id)
    if id:
        renamed[id] = new_id  # later records refer to the newer one
        sheet.fixed(Fault.REPEATED_ID, entry, sheet.named(by_id[id]))
    else:
        sheet.fixed(Fault.MISSING_FIELD, entry, links.id)
    return True


@dataclass(slots=True)
class _Tree:
    """Tree of linked records. By id: the number of messages from the first record to this one, the parent's id, the
    records that follow, and the record."""

    messages: dict[str, int] = field(default_factory=dict)
    above: dict[str, str] = field(default_factory=dict)
    below: dict[str, list[SheetEntry]] = field(default_factory=dict)
    entries: dict[str, SheetEntry] = field(default_factory=dict)

    def add(self, links: Links, entry: SheetEntry, above: str) -> None:
        id = links.id_of(entry)
        self.messages[id] = self.messages.get(above, 0) + int(links.is_message(entry))
        self.above[id] = above
        self.entries[id] = entry
        self.below.setdefault(above, []).append(entry)

    def ends(self, links: Links) -> list[SheetEntry]:
        """Return the newest message of each branch. A result next to a continuing chain is no branch."""
        found: dict[SheetEntry, None] = {}
        for id, entry in self.entries.items():
            if id in self.below:
                continue
            while not links.is_message(entry) and self.above[links.id_of(entry)] in self.entries:
                entry = self.entries[self.above[links.id_of(entry)]]
            is_side_result = links.is_result(entry) and len(self.below.get(self.above[links.id_of(entry)], [])) > 1
            if links.is_message(entry) and not is_side_result and not self._continues(links, entry):
                found[entry] = None
        return list(found)

    def _continues(self, links: Links, entry: SheetEntry) -> bool:
        """Return True if a message follows the record, directly or further below."""
        below = list(self.below.get(links.id_of(entry), []))
        while below:
            one = below.pop()
            if links.is_message(one):
                return True
            below += self.below.get(links.id_of(one), [])
        return False


def _choose_branch(sheet: RepairSheet, links: Links, tree: _Tree, live: SheetEntry, *, longest: bool) -> None:
    """Find the branches; make the one that the user chose the newest, or else, if `longest` is True, the longest."""
    ends = tree.ends(links)
    chosen = live
    if sheet.branch is not None:
        found = [entry for entry in ends if entry.place == sheet.branch]
        if not found:
            known = ", ".join(str(entry.place) for entry in ends)
            raise BadInput(f"{sheet.name}: no branch ends on line {sheet.branch}; branches end on lines {known}.")
        chosen = found[0]
    elif longest and ends:
        chosen = max(ends, key=lambda one: (tree.messages[links.id_of(one)], one is live, one.place))
    if len(ends) > 1:
        sheet.branches = [
            Branch(one.place, tree.messages[links.id_of(one)], one is live, one is chosen) for one in ends
        ]
    if chosen is not live and chosen in ends:
        _make_newest(sheet, links, tree, chosen)


def _make_newest(sheet: RepairSheet, links: Links, tree: _Tree, chosen: SheetEntry) -> None:
    """Move the chosen branch, from its fork on, to the end of the file."""
    first = chosen
    while (above := tree.above[links.id_of(first)]) in tree.entries and len(tree.below[above]) == 1:
        first = tree.entries[above]
    moved: set[SheetEntry] = set()
    below = [first]
    while below:
        moved.add(one := below.pop())
        below += tree.below.get(links.id_of(one), [])
    sheet.entries = [entry for entry in sheet.entries if entry not in moved] + [
        entry for entry in sheet.entries if entry in moved
    ]
    sheet.fixed(Fault.OTHER_BRANCH, None, chosen.place)
