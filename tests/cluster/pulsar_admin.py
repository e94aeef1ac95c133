"""The little of Pulsar's admin API that tests need; provisioning proper is `fourtier init`."""

import aiohttp

_CONFLICT = 409


async def create_namespace(admin_url: str, tenant: str, namespace: str) -> bool:
    """See to it that tenant and namespace are there; whether the namespace is new."""
    async with aiohttp.ClientSession(f"{admin_url}/admin/v2/") as session:
        async with session.get("clusters") as answer:
            clusters = await answer.json()
        await _put(session, f"tenants/{tenant}", {"allowedClusters": clusters})
        return await _put(session, f"namespaces/{tenant}/{namespace}", {})


async def delete_namespace(admin_url: str, tenant: str, namespace: str) -> None:
    """Delete a namespace with its topics, whoever still has a subscription to them."""
    async with (
        aiohttp.ClientSession(f"{admin_url}/admin/v2/") as session,
        session.delete(f"namespaces/{tenant}/{namespace}", params={"force": "true"}) as answer,
    ):
        answer.raise_for_status()


async def _put(session: aiohttp.ClientSession, path: str, body: object) -> bool:
    async with session.put(path, json=body) as answer:
        if answer.status != _CONFLICT:
            answer.raise_for_status()
        return answer.status != _CONFLICT
