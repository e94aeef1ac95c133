"""Keeps what this process had in its memory out of the files of LadybugDB."""

import ctypes
import logging
from functools import cache

log = logging.getLogger(__name__)

#: From malloc.h.
_M_PERTURB = -6
#: Freed memory has this byte, memory that is handed out its complement: 0.
_FREED = 0xFF


@cache
def overwrite_memory() -> None:
    """Let the allocator overwrite memory when it is freed and when it is handed out.

    LadybugDB writes pages that it has filled in part only, with whatever was in that memory before:
    a token, a question, a memory of another user that was forgotten since. This sets
    `M_PERTURB` of glibc (`man 3 mallopt`), for the whole process and from now on; where the C
    library has no such setting, the log says so, once.
    """
    try:
        is_set = ctypes.CDLL(None).mallopt(_M_PERTURB, _FREED) == 1
    except (AttributeError, OSError):
        is_set = False
    if not is_set:
        log.warning(
            "The C library of this machine cannot overwrite freed memory: the files of the graphs "
            "may hold bytes that this process had in its memory (docs/security.md)."
        )
