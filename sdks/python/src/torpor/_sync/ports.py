# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

from torpor._sync.port_connection import PortConnection
from torpor._sync.transport import Transport
from torpor.models import ReachablePort


class Ports:
    """Ports on which programs of a sandbox listen."""

    def __init__(self, transport: Transport, sandbox: str) -> None:
        self._transport = transport
        self._sandbox = sandbox

    def list(self) -> list[ReachablePort]:
        """Those that have an address."""
        answer = self._transport.json("listPorts", params={"id": self._sandbox})
        return [ReachablePort.model_validate(each) for each in answer["ports"]]

    def expose(self, port: int, *, public: bool = False) -> ReachablePort:
        """Gives a port an address that stays over pause, stop and restart; asked again it changes who may use it.

        One that is not public needs a token with the scope `port`, in the header X-Torpor-Token.
        """
        params = {"id": self._sandbox, "port": str(port)}
        return ReachablePort.model_validate(self._transport.json("exposePort", params=params, body={"public": public}))

    def remove(self, port: int) -> None:
        """Takes its address away; connections that are open end."""
        self._transport.json("unexposePort", params={"id": self._sandbox, "port": str(port)})

    def connect(self, port: int) -> PortConnection:
        """To what listens on it, whatever network the sandbox has. PortClosedError: nothing does."""
        return PortConnection(self._transport.socket("connectPort", {"id": self._sandbox, "port": str(port)}))
