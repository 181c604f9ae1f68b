"""Hides the secrets of URLs in texts that are shown or kept: passwords, keys, signatures, and users of the web, which are often tokens."""

from __future__ import annotations

import re
from collections.abc import Callable

# A password may have a slash in it that should have been written `%2F`. Digits and a slash are a port.
_URL_USER = re.compile(
    r"""((?<=://)[^/@:?#\s"'`]*:(?!\d+/)|(?<=https://)|(?<=http://))([^/?#\s]+(?=@)|(?<=:)[^?#\s]+?(?=@))""",
    re.IGNORECASE,
)
_PARAMETER = re.compile(
    r"""([?&](?:[^=&\s]*(?:key|password|secret|sig|signature|token|credential)[^=&\s]*|auth|code|jwt|pass|pwd|sas)=)([^&#\s'"`]+)""",
    re.IGNORECASE,
)


def masked(text: str) -> str:
    """The text with `***` in the place of each secret."""
    return _hidden(text, lambda secret: "***")


def veiled(text: str) -> str:
    """The text with a star for each character of a secret: what stands behind stays where it is."""
    return _hidden(text, lambda secret: "*" * len(secret))


def _hidden(text: str, cover: Callable[[str], str]) -> str:
    def covered(found: re.Match[str]) -> str:
        return found[1] + cover(found[2])

    if "://" not in text and "=" not in text:
        return text
    return _PARAMETER.sub(covered, _URL_USER.sub(covered, text))
