"""The services of harbour that the migration has to visit: one domain each, written out from a short description.

A `Domain` says what a service is about; `files_of` turns it into the files a small team would have: routes, SQL,
rules, tests and the front end's client. The descriptions carry what differs, the templates what a house style repeats.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import Template
from textwrap import dedent


@dataclass(frozen=True)
class Domain:
    package: str
    thing: str
    title: str
    fields: tuple[tuple[str, str, str], ...]
    """(name, python type, what it means)"""
    action: str
    """A verb a customer can do beside the usual four: its path, and below what it checks."""
    action_note: str
    rule: str
    """A pure function of `rules.py`, with its own docstring."""
    rule_test: str
    staff_only: str = ""
    """A listing that only staff may ask for."""

    @property
    def model(self) -> str:
        return self.thing.title().replace("_", "")


TYPES = {"str": "string", "int": "number", "bool": "boolean", "datetime": "string", "UUID": "string", "date": "string"}
SAMPLES = {
    "str": '"blue"',
    "int": "3",
    "bool": "True",
    "datetime": '"2026-01-12T09:30:00+00:00"',
    "UUID": '"5d1f9c1e-0b1a-4a57-9a34-6c1f0a3b7e21"',
    "date": '"2026-02-01"',
}

OLD_IMPORT = "from legacy.cookie_session import current_user_from_cookie\n"
NEW_IMPORT = "from services.auth.sessions import SessionUser, require_session\n"

_ROUTES = Template('''\
"""${title}: what a customer may see and change."""

from __future__ import annotations

import logging
from datetime import date, datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from pydantic import BaseModel, Field

${old_import}from services.${package}.repository import ${model}Repository, get_repository
from services.${package} import rules

log = logging.getLogger("harbour.${package}")
router = APIRouter(prefix="/${package}", tags=["${package}"])


class ${model}In(BaseModel):
    """What the front end sends."""

${in_fields}

class ${model}Out(${model}In):
    """What it gets back."""

    id: UUID
    created_at: datetime
    changed_at: datetime


class ${model}Page(BaseModel):
    items: list[${model}Out]
    next: str | None = None


@router.get("")
async def list_${package}(
    request: Request,
    repository: Annotated[${model}Repository, Depends(get_repository)],
    after: str | None = Query(default=None, max_length=64),
    limit: int = Query(default=50, ge=1, le=200),
) -> ${model}Page:
    """The customer's own ${plural}, newest first."""
    user = current_user_from_cookie(request)
    if user is None:
        raise HTTPException(status_code=401, detail="not signed in")
    rows, following = await repository.page(owner=UUID(user["id"]), after=after, limit=limit)
    return ${model}Page(items=[${model}Out.model_validate(row) for row in rows], next=following)


@router.get("/{${thing}_id}")
async def get_${thing}(
    ${thing}_id: UUID,
    request: Request,
    repository: Annotated[${model}Repository, Depends(get_repository)],
) -> ${model}Out:
    user = current_user_from_cookie(request)
    if user is None:
        raise HTTPException(status_code=401, detail="not signed in")
    row = await repository.by_id(${thing}_id)
    if row is None or row.owner_id != UUID(user["id"]):
        # The same answer for "not there" and "not yours": ids must not be countable from outside.
        raise HTTPException(status_code=404, detail="We could not find this ${words}.")
    return ${model}Out.model_validate(row)


@router.post("", status_code=201)
async def create_${thing}(
    body: ${model}In,
    request: Request,
    repository: Annotated[${model}Repository, Depends(get_repository)],
) -> ${model}Out:
    user = current_user_from_cookie(request)
    if user is None:
        raise HTTPException(status_code=401, detail="not signed in")
    if problem := rules.problem_with(body.model_dump()):
        raise HTTPException(status_code=422, detail=problem)
    row = await repository.add(owner=UUID(user["id"]), values=body.model_dump())
    log.info("${thing} %s created by %s", row.id, user["id"])
    return ${model}Out.model_validate(row)


@router.post("/{${thing}_id}/${action}", status_code=204)
async def ${action}_${thing}(
    ${thing}_id: UUID,
    request: Request,
    repository: Annotated[${model}Repository, Depends(get_repository)],
) -> None:
    """${action_note}"""
    user = current_user_from_cookie(request)
    if user is None:
        raise HTTPException(status_code=401, detail="not signed in")
    row = await repository.by_id(${thing}_id)
    if row is None or row.owner_id != UUID(user["id"]):
        raise HTTPException(status_code=404, detail="We could not find this ${words}.")
    if problem := rules.cannot_${action}(row):
        raise HTTPException(status_code=409, detail=problem)
    await repository.${action}(${thing}_id, by=UUID(user["id"]))
    log.info("${thing} %s: ${action} by %s", ${thing}_id, user["id"])
${staff}''')

_STAFF = Template('''

@router.get("/staff/${listing}")
async def staff_${listing}(
    request: Request,
    repository: Annotated[${model}Repository, Depends(get_repository)],
    since: date | None = None,
) -> ${model}Page:
    """For the office: ${listing_words}."""
    user = current_user_from_cookie(request)
    if user is None:
        raise HTTPException(status_code=401, detail="not signed in")
    if "staff" not in user["roles"]:
        raise HTTPException(status_code=403, detail="This page is for the office.")
    rows = await repository.${listing}(since=since, limit=200)
    return ${model}Page(items=[${model}Out.model_validate(row) for row in rows])
''')

_RULES = Template('''\
"""Rules of ${package}: no I/O, no clock of their own."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

${rule}

def problem_with(values: dict[str, Any]) -> str:
    """A sentence for the customer, "" when all is well."""
${checks}    return ""


def cannot_${action}(row: Any) -> str:
    """Why this ${words} cannot be changed by '${action}'; "" when it can."""
    if row.closed_at is not None:
        return "This ${words} is closed. Write to us if that is a mistake."
    return ""
''')

_REPOSITORY = Template('''\
"""SQL of ${package}. Every query has a limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from services.db import connection

COLUMNS = "id, owner_id, created_at, changed_at, closed_at, ${columns}"


@dataclass(frozen=True)
class ${model}Row:
    id: UUID
    owner_id: UUID
    created_at: datetime
    changed_at: datetime
    closed_at: datetime | None
${row_fields}

class ${model}Repository:
    def __init__(self, db: AsyncConnection) -> None:
        self._db = db

    async def by_id(self, ${thing}_id: UUID) -> ${model}Row | None:
        found = (
            await self._db.execute(
                text(f"SELECT {COLUMNS} FROM ${package} WHERE id = :id LIMIT 1"),
                {"id": ${thing}_id},
            )
        ).first()
        return ${model}Row(*found) if found else None

    async def page(self, owner: UUID, after: str | None, limit: int) -> tuple[Sequence[${model}Row], str | None]:
        """A page of the owner's ${plural} and the mark of the next one (None at the end)."""
        before = datetime.fromisoformat(after) if after else datetime.now(UTC)
        rows = [
            ${model}Row(*row)
            for row in await self._db.execute(
                text(
                    f"SELECT {COLUMNS} FROM ${package} "
                    "WHERE owner_id = :owner AND created_at < :before ORDER BY created_at DESC LIMIT :limit"
                ),
                {"owner": owner, "before": before, "limit": limit + 1},
            )
        ]
        following = rows[limit - 1].created_at.isoformat() if len(rows) > limit else None
        return rows[:limit], following

    async def add(self, owner: UUID, values: dict[str, Any]) -> ${model}Row:
        now = datetime.now(UTC)
        row = ${model}Row(uuid4(), owner, now, now, None, **values)
        await self._db.execute(
            text(
                f"INSERT INTO ${package} ({COLUMNS}) "
                "VALUES (:id, :owner_id, :created_at, :changed_at, :closed_at, ${bound})"
            ),
            row.__dict__,
        )
        return row

    async def ${action}(self, ${thing}_id: UUID, by: UUID) -> None:
        await self._db.execute(
            text("UPDATE ${package} SET changed_at = :now, changed_by = :by WHERE id = :id"),
            {"now": datetime.now(UTC), "by": by, "id": ${thing}_id},
        )


async def get_repository() -> ${model}Repository:
    return ${model}Repository(await connection())
''')

_TESTS = Template('''\
"""${title}, from the outside."""

from __future__ import annotations

import pytest
from httpx import AsyncClient

from services.${package} import rules
from tests.shop.factory import cookie_for, customer, ${thing}_values

pytestmark = pytest.mark.asyncio


async def test_${package}_needs_a_session(client: AsyncClient) -> None:
    assert (await client.get("/${package}")).status_code == 401
    assert (await client.post("/${package}", json=${thing}_values())).status_code == 401


async def test_a_customer_sees_only_their_own_${plural_id}(client: AsyncClient) -> None:
    anna, ben = await customer(client), await customer(client)
    made = await client.post("/${package}", json=${thing}_values(), cookies=cookie_for(anna))
    assert made.status_code == 201
    theirs = await client.get("/${package}", cookies=cookie_for(ben))
    assert theirs.json()["items"] == []
    other = await client.get(f"/${package}/{made.json()['id']}", cookies=cookie_for(ben))
    assert other.status_code == 404


async def test_create_gives_back_what_was_sent(client: AsyncClient) -> None:
    anna = await customer(client)
    sent = ${thing}_values(${first_field}=${first_sample})
    answer = await client.post("/${package}", json=sent, cookies=cookie_for(anna))
    assert answer.json()["${first_field}"] == ${first_sample}


async def test_pages_do_not_overlap(client: AsyncClient) -> None:
    anna = await customer(client)
    for _ in range(5):
        await client.post("/${package}", json=${thing}_values(), cookies=cookie_for(anna))
    first = (await client.get("/${package}?limit=3", cookies=cookie_for(anna))).json()
    second = (await client.get(f"/${package}?limit=3&after={first['next']}", cookies=cookie_for(anna))).json()
    ids = [item["id"] for item in first["items"] + second["items"]]
    assert len(ids) == len(set(ids)) == 5


async def test_${action}_is_refused_once_closed(client: AsyncClient) -> None:
    anna = await customer(client)
    made = (await client.post("/${package}", json=${thing}_values(), cookies=cookie_for(anna))).json()
    assert (await client.post(f"/${package}/{made['id']}/${action}", cookies=cookie_for(anna))).status_code == 204
    await client.close_for_test("${package}", made["id"])
    again = await client.post(f"/${package}/{made['id']}/${action}", cookies=cookie_for(anna))
    assert again.status_code == 409

${rule_test}''')

_CLIENT = Template("""\
import { z } from "zod";
import { http } from "../auth/http";

/** ${title}. */
export const ${model} = z.object({
  id: z.string().uuid(),
  createdAt: z.string().datetime({ offset: true }),
  changedAt: z.string().datetime({ offset: true }),
${zod_fields}
});
export type ${model} = z.infer<typeof ${model}>;

const Page = z.object({ items: z.array(${model}), next: z.string().nullable() });
export type ${model}Page = z.infer<typeof Page>;

export type New${model} = Omit<${model}, "id" | "createdAt" | "changedAt">;

export async function list${model}(after?: string, signal?: AbortSignal): Promise<${model}Page> {
  return Page.parse(await http("/${package}", { query: { after, limit: 50 }, signal }));
}

export async function get${model}(id: string): Promise<${model}> {
  return ${model}.parse(await http(`/${package}/$${encodeURIComponent(id)}`));
}

export async function create${model}(values: New${model}): Promise<${model}> {
  return ${model}.parse(await http("/${package}", { method: "POST", body: values }));
}

/** ${action_note} */
export async function ${action}${model}(id: string): Promise<void> {
  await http(`/${package}/$${encodeURIComponent(id)}/${action}`, { method: "POST" });
}

/** Every page, one after the other: for exports, never for a screen. */
export async function* every${model}(signal?: AbortSignal): AsyncGenerator<${model}> {
  let after: string | undefined;
  do {
    const page = await list${model}(after, signal);
    yield* page.items;
    after = page.next ?? undefined;
  } while (after !== undefined);
}
""")


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


def _zod(kind: str) -> str:
    return {"UUID": "z.string().uuid()", "int": "z.number().int()", "bool": "z.boolean()"}.get(kind, "z.string()")


def _checks(domain: Domain) -> str:
    lines = []
    for name, kind, meaning in domain.fields:
        if kind == "int":
            lines.append(
                f'    if values["{name}"] < 0:\n        return "Please give {meaning} that is not below zero."\n'
            )
        if kind == "str":
            lines.append(f'    if not values["{name}"].strip():\n        return "Please fill in {meaning}."\n')
    return "".join(lines)


def files_of(domain: Domain) -> dict[str, str]:
    """The files of one service by path."""
    first_name, first_kind, _ = domain.fields[0]
    words = {
        "package": domain.package,
        "thing": domain.thing,
        "model": domain.model,
        "title": domain.title,
        "words": domain.thing.replace("_", " "),
        "plural": domain.package.replace("_", " "),
        "plural_id": domain.package,
        "action": domain.action,
        "action_note": domain.action_note,
        "old_import": OLD_IMPORT,
        "rule": dedent(domain.rule).strip() + "\n",
        "rule_test": dedent(domain.rule_test),
        "checks": _checks(domain),
        "columns": ", ".join(name for name, _, _ in domain.fields),
        "bound": ", ".join(f":{name}" for name, _, _ in domain.fields),
        "in_fields": "".join(
            f'    {name}: {kind} = Field(description="{meaning}")\n' for name, kind, meaning in domain.fields
        ),
        "row_fields": "".join(f"    {name}: {kind}\n" for name, kind, _ in domain.fields),
        "zod_fields": "\n".join(
            f"  /** {meaning[0].upper()}{meaning[1:]}. */\n  {_camel(name)}: {_zod(kind)},"
            for name, kind, meaning in domain.fields
        ),
        "first_field": first_name,
        "first_sample": SAMPLES[first_kind],
        "listing": domain.staff_only,
        "listing_words": domain.staff_only.replace("_", " "),
    }
    staff = _STAFF.substitute(words) if domain.staff_only else ""
    return {
        f"services/{domain.package}/routes.py": _ROUTES.substitute(words, staff=staff),
        f"services/{domain.package}/rules.py": _RULES.substitute(words),
        f"services/{domain.package}/repository.py": _REPOSITORY.substitute(words),
        f"tests/{domain.package}/test_routes.py": _TESTS.substitute(words),
        f"web/src/api/{domain.package}.ts": _CLIENT.substitute(words),
    }
