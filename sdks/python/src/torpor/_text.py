from __future__ import annotations

from torpor.errors import InvalidRequestError


class InvalidTextError(InvalidRequestError, ValueError):
    """A file that was read as text is none."""


def decode_text(path: str, content: bytes, encoding: str, errors: str) -> str:
    try:
        return content.decode(encoding, errors)
    except UnicodeDecodeError as error:
        raise InvalidTextError(
            f"{path} is no {encoding} text: byte {error.start} is 0x{content[error.start]:02x}",
            hint='read it as bytes, or with errors="replace"',
            details={"path": path, "offset": error.start},
        ) from error
