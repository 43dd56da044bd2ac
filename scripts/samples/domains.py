# ruff: noqa: E501 (sentences of the story stay whole)
"""What harbour sells and does: the twelve services beside auth."""

from samples.shop import Domain

DOMAINS = (
    Domain(
        "carts",
        "cart_line",
        "The shopping cart",
        (
            ("product_id", "UUID", "the product"),
            ("quantity", "int", "a quantity"),
            ("note", "str", "a note for the packer"),
        ),
        "hold",
        "Put a line aside for later. It leaves the sum and keeps its price for a week.",
        '''
        HOLD_DAYS = 7


        def price_of_line(unit_cents: int, quantity: int, cut_to_length: bool) -> int:
            """The price of a line in cents. Rope that is cut to length costs a cutting fee of 150 cents, once."""
            return unit_cents * quantity + (150 if cut_to_length else 0)


        def hold_ends(held_at: datetime) -> datetime:
            return held_at + timedelta(days=HOLD_DAYS)

        ''',
        """
        @pytest.mark.parametrize(("quantity", "cut", "cents"), [(1, False, 420), (3, False, 1260), (3, True, 1410)])
        def test_cutting_costs_once(quantity: int, cut: bool, cents: int) -> None:
            assert rules.price_of_line(420, quantity, cut) == cents
        """,
    ),
    Domain(
        "wishlists",
        "wish",
        "Wishes and their alarms",
        (
            ("product_id", "UUID", "the product"),
            ("below_cents", "int", "a price"),
            ("public", "bool", "whether friends may see it"),
        ),
        "share",
        "Make a link that shows this wish to anyone who has it.",
        '''
        def alarm_is_due(now_cents: int, below_cents: int, last_alarm: date | None, today: date) -> bool:
            """An alarm rings at most once in fourteen days, whatever the price does in between."""
            if now_cents >= below_cents:
                return False
            return last_alarm is None or (today - last_alarm) >= timedelta(days=14)

        ''',
        """
        def test_an_alarm_rings_once_in_a_fortnight() -> None:
            from datetime import date

            monday = date(2026, 1, 5)
            assert rules.alarm_is_due(900, 1000, None, monday)
            assert not rules.alarm_is_due(900, 1000, date(2025, 12, 30), monday)
        """,
    ),
    Domain(
        "orders",
        "order",
        "Orders",
        (
            ("reference", "str", "an order number"),
            ("total_cents", "int", "a total"),
            ("wanted_on", "date", "the day it is wanted"),
            ("gift", "bool", "whether the invoice stays out of the parcel"),
        ),
        "cancel",
        "Cancel an order that has not left the warehouse.",
        '''
        CANCELLABLE = {"new", "paid", "picking"}


        def next_state(state: str, event: str) -> str:
            """The state after an event. An event that does not fit leaves the state as it is."""
            table = {
                ("new", "payment_seen"): "paid",
                ("paid", "picker_took"): "picking",
                ("picking", "label_printed"): "packed",
                ("packed", "carrier_scan"): "shipped",
                ("shipped", "delivered"): "done",
            }
            return table.get((state, event), state)

        ''',
        """
        def test_events_in_order_reach_done() -> None:
            state = "new"
            for event in ("payment_seen", "picker_took", "label_printed", "carrier_scan", "delivered"):
                state = rules.next_state(state, event)
            assert state == "done"


        def test_a_stray_event_changes_nothing() -> None:
            assert rules.next_state("new", "delivered") == "new"
        """,
        "late_orders",
    ),
    Domain(
        "returns",
        "return_case",
        "Returns",
        (
            ("order_id", "UUID", "the order"),
            ("reason", "str", "a reason"),
            ("pieces", "int", "a number of pieces"),
            ("opened", "bool", "whether the packing was opened"),
        ),
        "withdraw",
        "Take a return back: the parcel stays with the customer.",
        '''
        def refund_share(days_since_delivery: int, opened: bool, flawed: bool) -> int:
            """Per cent of the price that is paid back. A flawed thing is always paid back whole."""
            if flawed:
                return 100
            if days_since_delivery <= 30:
                return 90 if opened else 100
            return 50 if days_since_delivery <= 60 and not opened else 0

        ''',
        """
        @pytest.mark.parametrize(
            ("days", "opened", "flawed", "share"),
            [(3, False, False, 100), (3, True, False, 90), (45, False, False, 50), (45, True, False, 0), (90, True, True, 100)],
        )
        def test_refund_share(days: int, opened: bool, flawed: bool, share: int) -> None:
            assert rules.refund_share(days, opened, flawed) == share
        """,
        "open_cases",
    ),
    Domain(
        "addresses",
        "address",
        "Addresses and berths",
        (
            ("label", "str", "a name for the address"),
            ("street", "str", "the street or the pier"),
            ("berth", "str", "the berth, where there is one"),
            ("postcode", "str", "the postcode"),
        ),
        "prefer",
        "Make this the address that a new order starts with.",
        '''
        def one_line(street: str, berth: str, postcode: str) -> str:
            """The address as it is printed on a label: a berth goes before the street."""
            return ", ".join(part for part in (f"berth {berth}" if berth else "", street, postcode) if part)

        ''',
        """
        def test_a_berth_comes_first() -> None:
            assert rules.one_line("North Pier", "14", "24103") == "berth 14, North Pier, 24103"
            assert rules.one_line("Rope Walk 3", "", "24103") == "Rope Walk 3, 24103"
        """,
    ),
    Domain(
        "payments",
        "payment",
        "Payments",
        (
            ("order_id", "UUID", "the order"),
            ("amount_cents", "int", "an amount"),
            ("method", "str", "a way to pay"),
            ("due_on", "date", "the day it is due"),
        ),
        "retry",
        "Try a payment again that the bank refused.",
        '''
        RETRIES = (timedelta(hours=1), timedelta(days=1), timedelta(days=3))


        def next_try(refused_at: datetime, tries: int) -> datetime | None:
            """When a refused payment is tried again; None when the customer has to act."""
            return refused_at + RETRIES[tries] if tries < len(RETRIES) else None

        ''',
        """
        def test_a_payment_is_tried_three_times() -> None:
            from datetime import UTC, datetime

            at = datetime(2026, 1, 12, tzinfo=UTC)
            assert rules.next_try(at, 2) is not None
            assert rules.next_try(at, 3) is None
        """,
        "refused_payments",
    ),
    Domain(
        "vouchers",
        "voucher",
        "Vouchers",
        (
            ("code", "str", "the code"),
            ("cents", "int", "a value"),
            ("valid_until", "date", "the last day"),
        ),
        "redeem",
        "Use the voucher for the cart as it stands.",
        '''
        ALPHABET = "ACDEFGHJKLMNPQRTUVWXY34679"


        def check_letter(code: str) -> str:
            """The last letter of a code guards against typing errors: a weighted sum over the alphabet without lookalikes."""
            total = sum((index + 1) * ALPHABET.index(letter) for index, letter in enumerate(code))
            return ALPHABET[total % len(ALPHABET)]

        ''',
        """
        def test_swapped_letters_are_noticed() -> None:
            assert rules.check_letter("ROPE") != rules.check_letter("RPOE")
        """,
        "campaign_use",
    ),
    Domain(
        "reviews",
        "review",
        "Reviews",
        (
            ("product_id", "UUID", "the product"),
            ("stars", "int", "a number of stars"),
            ("headline", "str", "a headline"),
            ("body", "str", "some words"),
        ),
        "report",
        "Tell the office that a review is not one.",
        '''
        def weight(stars: int, bought_here: bool, helpful: int) -> float:
            """How much a review counts for the average: one that was bought here and found helpful counts more."""
            return (1.0 if bought_here else 0.4) * (1 + min(helpful, 20) / 20) if 1 <= stars <= 5 else 0.0

        ''',
        """
        def test_a_review_without_stars_counts_nothing() -> None:
            assert rules.weight(0, True, 10) == 0.0
            assert rules.weight(4, True, 10) > rules.weight(4, False, 10)
        """,
        "reported",
    ),
    Domain(
        "subscriptions",
        "subscription",
        "Standing orders",
        (
            ("product_id", "UUID", "the product"),
            ("every_weeks", "int", "a number of weeks"),
            ("next_on", "date", "the next day"),
            ("paused", "bool", "whether it sleeps"),
        ),
        "skip",
        "Leave out the next delivery, and only that one.",
        '''
        def following(next_on: date, every_weeks: int, closed_days: set[date]) -> date:
            """The delivery after this one, moved to the next day that the warehouse works."""
            day = next_on + timedelta(weeks=every_weeks)
            while day in closed_days or day.weekday() == 6:
                day += timedelta(days=1)
            return day

        ''',
        """
        def test_a_delivery_avoids_sundays() -> None:
            from datetime import date

            assert rules.following(date(2026, 1, 4), 1, set()) == date(2026, 1, 12)
        """,
    ),
    Domain(
        "stock",
        "stock_count",
        "Stock counts",
        (
            ("product_id", "UUID", "the product"),
            ("shelf", "str", "the shelf"),
            ("counted", "int", "a count"),
            ("counted_on", "date", "the day"),
        ),
        "confirm",
        "Two people counted the same: book the difference.",
        '''
        def difference(booked: int, first: int, second: int) -> int | None:
            """What to book, or None while the two counts differ by more than one per cent."""
            if abs(first - second) * 100 > max(first, second):
                return None
            return min(first, second) - booked

        ''',
        """
        def test_counts_that_differ_book_nothing() -> None:
            assert rules.difference(100, 90, 97) is None
            assert rules.difference(100, 97, 97) == -3
        """,
        "open_counts",
    ),
    Domain(
        "shipments",
        "shipment",
        "Shipments",
        (
            ("order_id", "UUID", "the order"),
            ("carrier", "str", "a carrier"),
            ("grams", "int", "a weight"),
            ("tracking", "str", "a tracking number"),
        ),
        "redirect",
        "Send a parcel on to the preferred address, as long as the carrier allows it.",
        '''
        BANDS = ((500, 390), (2_000, 550), (10_000, 990), (31_500, 1_790))


        def postage_cents(grams: int, island: bool) -> int | None:
            """Postage by weight; islands cost 800 cents more. None: too heavy for a parcel, goes with the freight boat."""
            for limit, cents in BANDS:
                if grams <= limit:
                    return cents + (800 if island else 0)
            return None

        ''',
        """
        @pytest.mark.parametrize(("grams", "cents"), [(500, 390), (501, 550), (31_500, 1790), (31_501, None)])
        def test_postage_bands(grams: int, cents: int | None) -> None:
            assert rules.postage_cents(grams, island=False) == cents
        """,
    ),
    Domain(
        "messages",
        "message",
        "Messages between customer and office",
        (
            ("subject", "str", "a subject"),
            ("body", "str", "some words"),
            ("order_id", "UUID", "the order it is about"),
            ("wants_call", "bool", "whether a call is wanted"),
        ),
        "close",
        "Close a conversation. A new message opens it again.",
        '''
        OFFICE_HOURS = range(8, 18)


        def answer_by(received: datetime) -> datetime:
            """The office answers within four working hours, Monday to Friday."""
            left, moment = 4, received.replace(minute=0, second=0, microsecond=0)
            while left:
                moment += timedelta(hours=1)
                if moment.weekday() < 5 and moment.hour in OFFICE_HOURS:
                    left -= 1
            return moment

        ''',
        """
        def test_a_message_on_friday_evening_waits_for_monday() -> None:
            from datetime import UTC, datetime

            assert rules.answer_by(datetime(2026, 1, 16, 17, 30, tzinfo=UTC)).weekday() == 0
        """,
        "waiting",
    ),
)
