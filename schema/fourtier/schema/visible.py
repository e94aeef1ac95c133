"""What people see of a text: names that look alike are one name, and a blank text says nothing."""

import unicodedata

#: Categories of characters that nobody sees: controls, formats, halves of characters, separators of
#: lines, and what Unicode has not assigned.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"})
#: Those of other categories: fillers, joiners, variation selectors, and the blank Braille cell.
_BLANK = frozenset(
    map(
        chr,
        (
            0x034F,
            0x115F,
            0x1160,
            0x17B4,
            0x17B5,
            *range(0x180B, 0x1810),
            0x2800,
            0x3164,
            *range(0xFE00, 0xFE10),
            0xFFA0,
            *range(0xE0100, 0xE01F0),
        ),
    )
)
MAX_NAME = 512


def normal_name(name: str) -> str:
    """A name as it is stored and compared: composed (NFC), without space around it.

    Raises:
        ValueError: it is blank or too long, or has a character that nobody sees.
    """
    normal = unicodedata.normalize("NFC", name).strip()
    normal = "".join(" " if unicodedata.category(each) == "Zs" else each for each in normal)
    if not normal:
        raise ValueError("the name is blank: give it at least one visible character")
    unseen = next((each for each in normal if _is_unseen(each)), None)
    if unseen is not None:
        raise ValueError(
            f"the name has a character that nobody sees (U+{ord(unseen):04X} "
            f"{unicodedata.name(unseen, 'control character')}): leave it out"
        )
    if len(normal) > MAX_NAME:
        raise ValueError(f"the name has {len(normal)} characters, at most {MAX_NAME} fit")
    return normal


def normal_optional_name(name: str) -> str:
    """The same of a name that may be left out, which is empty then.

    Raises:
        ValueError: as `normal_name`.
    """
    return normal_name(name) if name else name


def not_blank(text: str) -> str:
    """The text as it is.

    Raises:
        ValueError: it has nothing that anybody sees.
    """
    if is_blank(text):
        raise ValueError("the text is blank: it has no visible character")
    return text


def is_blank(text: str) -> bool:
    """Whether nobody sees anything of a text. Half a character counts as one."""
    return all(
        each.isspace() or (_is_unseen(each) and unicodedata.category(each) != "Cs") for each in text
    )


def _is_unseen(character: str) -> bool:
    return unicodedata.category(character) in _UNSEEN or character in _BLANK
