"""How many tokens a text will cost, without the model's own tokenizer.

An estimate, on purpose: which model answers is known to `completion` alone, and a budget only has
to hold roughly. It leans towards too many, so that what fits by it fits the model's window.
"""

#: English prose has about four bytes of UTF-8 to a token. Bytes and not characters: a text in
#: Chinese or Russian costs more tokens for each of its characters, and it has more bytes too.
_BYTES = 4
#: Very short words and lone digits cost more than their bytes tell: four tokens for three of them.
_PER_WORD = 4 / 3


def count_tokens(text: str) -> int:
    """Estimate the tokens of a text; 0 for an empty one and at least 1 for any other."""
    by_bytes = -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES)
    by_words = int(len(text.split()) * _PER_WORD)
    return max(by_bytes, by_words)


def clip(text: str, tokens: int) -> str:
    """The beginning of a text, as much as costs at most `tokens`."""
    while (cost := count_tokens(text)) > tokens:
        text = text[: min(len(text) - 1, len(text) * tokens // cost)]
    return text
