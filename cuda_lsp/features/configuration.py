"""The client's settings: asked for where the client can be asked, taken from its notifications otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from cuda_lsp import config

if TYPE_CHECKING:
    from cuda_lsp.session import Session


async def register(session: Session) -> None:
    """Ask to be told when our settings change, for clients that want to be asked."""
    if session.client.features.configuration_registration:
        await session.client.register(
            types.WORKSPACE_DID_CHANGE_CONFIGURATION,
            types.DidChangeConfigurationRegistrationOptions(section=config.SECTION),
        )


def changed(session: Session, params: types.DidChangeConfigurationParams) -> None:
    """`workspace/didChangeConfiguration`."""
    session.configuration_changed(params.settings)
