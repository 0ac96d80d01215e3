from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from torpor._async.transport import AsyncTransport
from torpor._requests import given, instant, settings
from torpor._units import UNSET, Unset
from torpor.models import CreatedToken, Identity, LoginCode, Token


class AsyncAccess:
    """Who may call a server, and as whom this client does."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create_token(
        self,
        name: str | None = None,
        *,
        scopes: Sequence[str] | None = None,
        team: str | Unset | None = UNSET,
        expires_at: datetime | None = None,
    ) -> CreatedToken:
        """The answer alone has the `secret`. Without `scopes` it may do everything; team=None: for all teams, and the server itself."""
        body = given(name=name, scopes=None if scopes is None else [*scopes], expiresAt=instant(expires_at)) | settings(team=team)
        return CreatedToken.model_validate(await self._transport.json("createToken", body=body))

    async def tokens(self) -> list[Token]:
        """All tokens, oldest first, expired ones too."""
        return [Token.model_validate(each) for each in (await self._transport.json("listTokens"))["tokens"]]

    async def revoke_token(self, token: str) -> None:
        """By its id or name. What it has open is cut, and browsers that it signed in are signed out."""
        await self._transport.json("revokeToken", params={"tid": token})

    async def login_code(self) -> LoginCode:
        """Signs one browser in as whoever this client is, once."""
        return LoginCode.model_validate(await self._transport.json("createLoginCode"))

    async def whoami(self) -> Identity:
        """As whom this client calls, and what it may do."""
        return Identity.model_validate(await self._transport.json("whoami"))
