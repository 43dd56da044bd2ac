"""How figures are written wherever a person reads them."""


def grouped(number: float) -> str:
    """A whole number with its thousands set apart: `12 345`."""
    return f"{number:,.0f}".replace(",", " ")
