"""The words around a number, which say what it is where its form does not."""

import re

#: Letters and digits of a word; scripts without spaces between words have none that a number ends.
WORD = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"

_BEFORE, _AFTER = 60, 30

#: The number of a thing, by the word that stands before it.
_THING = re.compile(
    r"\b(?:orders?|invoices?|tracking|tickets?|parcel|shipment|part|serial|isbn|issn|ean|upc|sku"
    r"|asin|imei|version|build|commit|revision|release|model|article|item|product|batch|booking"
    r"|reservation|confirmation|reference|transaction|case|issue|bug|patent|flight|train|room"
    r"|checksum|hash|timestamp|epoch|port|row|line|page|chapter|score|population|doi|arxiv|pmid"
    r"|bestell\w*|rechnung\w*|sendung\w*|auftrag\w*|artikel\w*|commande|facture|pedido|factura"
    r"|ordine|fattura|zamówieni\w*|ordre\w*|bestelling|factuur|encomenda|fatura)\b"
    r"(?:[^.!?\n]|\bn[or]\.){0,25}\Z",
    re.IGNORECASE,
)


def before(text: str, start: int) -> str:
    """What stands before, on the same line."""
    return text[max(0, start - _BEFORE) : start].rpartition("\n")[2]


def after(text: str, end: int) -> str:
    """What stands behind, on the same line."""
    return text[end : end + _AFTER].partition("\n")[0]


def is_named(pattern: re.Pattern[str], text: str, start: int, end: int) -> bool:
    """Whether the words before or behind say that it is that."""
    return bool(pattern.search(before(text, start)) or pattern.search(after(text, end)))


def is_thing(text: str, start: int) -> bool:
    """Whether the words before say that it is the number of a thing, such as an order."""
    return bool(_THING.search(before(text, start)))
