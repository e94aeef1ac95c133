"""What a server said, fit to be printed."""

_LONGEST = 300


def one_line(text: object, *secrets: str | None) -> str:
    """The text on one line, cut when it is long, with the secrets taken out of it.

    No server is known to repeat a token; a proxy before it may well repeat the whole request.
    """
    line = " ".join(str(text).split())
    for secret in secrets:
        if secret:
            line = line.replace(secret, "[secret]")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} ..."
