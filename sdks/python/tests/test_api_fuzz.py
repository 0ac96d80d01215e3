"""Calls made up from the API's own description, against a daemon: whatever comes, it is refused or done, and never a fault."""

from __future__ import annotations
