from __future__ import annotations

from torpor._async.port_connection import AsyncPortConnection
from torpor._async.transport import AsyncTransport
from torpor.models import ReachablePort


class AsyncPorts:
    """Ports on which programs of a sandbox listen."""

    def __init__(self, transport: AsyncTransport, sandbox: str) -> None:
        self._transport = transport
        self._sandbox = sandbox

    async def list(self) -> list[ReachablePort]:
        """Those that have an address."""
        answer = await self._transport.json("listPorts", params={"id": self._sandbox})
        return [ReachablePort.model_validate(each) for each in answer["ports"]]

    async def expose(self, port: int, *, public: bool = False) -> ReachablePort:
        """Gives a port an address that stays over pause, stop and restart; asked again it changes who may use it.

        One that is not public needs a token with the scope `port`, in the header X-Torpor-Token.
        """
        params = {"id": self._sandbox, "port": str(port)}
        return ReachablePort.model_validate(await self._transport.json("exposePort", params=params, body={"public": public}))

    async def remove(self, port: int) -> None:
        """Takes its address away; connections that are open end."""
        await self._transport.json("unexposePort", params={"id": self._sandbox, "port": str(port)})

    async def connect(self, port: int) -> AsyncPortConnection:
        """To what listens on it, whatever network the sandbox has. PortClosedError: nothing does."""
        return AsyncPortConnection(await self._transport.socket("connectPort", {"id": self._sandbox, "port": str(port)}))
