# Generated from ../_async by tools/generate.py. Not to be edited.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from torpor._requests import given
from torpor._summaries import CreatedWebhook
from torpor._sync.transport import Transport
from torpor.models import Delivery, Webhook, WebhookTest


class Webhooks:
    """Where a server sends events, signed."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        url: str,
        *,
        secret: str | None = None,
        types: Sequence[str] | None = None,
        sandbox: str | None = None,
        labels: Mapping[str, str] | None = None,
        description: str | None = None,
    ) -> CreatedWebhook:
        """Sends events from now on. The answer alone has the `secret` by which messages are known to be the server's."""
        body = given(url=url, secret=secret, types=types, sandbox=sandbox, labels=labels, description=description)
        return CreatedWebhook.model_validate(self._transport.json("createWebhook", body=body))

    def list(self) -> list[Webhook]:
        return [Webhook.model_validate(each) for each in (self._transport.json("listWebhooks"))["webhooks"]]

    def get(self, id: str) -> Webhook:
        return Webhook.model_validate(self._transport.json("getWebhook", params={"wid": id}))

    def remove(self, id: str) -> None:
        """With what it has not delivered."""
        self._transport.json("removeWebhook", params={"wid": id})

    def pause(self, id: str) -> Webhook:
        """Sends nothing for the time being; what happens meanwhile is kept for it."""
        return Webhook.model_validate(self._transport.json("pauseWebhook", params={"wid": id}))

    def enable(self, id: str) -> Webhook:
        """Sends again, what was kept first."""
        return Webhook.model_validate(self._transport.json("enableWebhook", params={"wid": id}))

    def test(self, id: str) -> WebhookTest:
        """Sends one message now, once."""
        return WebhookTest.model_validate(self._transport.json("testWebhook", params={"wid": id}))

    def deliveries(
        self, id: str, *, status: Literal["pending", "delivered", "dead"] | None = None, limit: int | None = None
    ) -> list[Delivery]:
        """Newest first."""
        answer = self._transport.json("listDeliveries", params={"wid": id}, query={"status": status, "limit": limit})
        return [Delivery.model_validate(each) for each in answer["deliveries"]]
