"""The admin API's error paths; what it does when all is well is tested on a real Pulsar."""

from pathlib import Path

import pytest
from aiohttp import web

from fourtier.runtime.bus.pulsar.admin import AdminConfig, PulsarAdmin, open_admin
from fourtier.runtime.errors import StartupError
from tests.operations.provisioning.standin import Answer, StandIn, failing, standing_in

TOKEN = "eyJhbGciOiJIUzI1NiJ9.secret.token"  # noqa: S105 - nobody's


async def ask(config: AdminConfig) -> object:
    async with open_admin(config) as admin:
        return await admin.get(list[str], "clusters")


async def rejected_with(answer: Answer) -> str:
    async with standing_in(answer) as server:
        with pytest.raises(StartupError) as raised:
            await ask(AdminConfig(server.url, TOKEN))
    assert "\n" not in str(raised.value)
    assert TOKEN not in str(raised.value)
    return str(raised.value)


async def test_nobody_there() -> None:
    with pytest.raises(
        StartupError, match=r"cannot be reached at http://127\.0\.0\.1:9: .*bus\.admin-url"
    ):
        await ask(AdminConfig("http://127.0.0.1:9"))


@pytest.mark.parametrize("status", [401, 403])
async def test_a_token_that_is_wrong_or_has_no_rights(status: int) -> None:
    said = await rejected_with(failing(status, f"bad token {TOKEN}"))
    assert "rejects GET clusters: set FOURTIER_BUS_TOKEN" in said


async def test_an_error_of_the_broker_is_one_line_without_the_token() -> None:
    said = await rejected_with(failing(500, f"first line\nsecond, with {TOKEN}"))
    assert "answered GET clusters with 500" in said
    assert "[secret]" in said


async def test_a_server_that_is_no_pulsar() -> None:
    async def web_page(_request: web.Request) -> web.StreamResponse:
        return web.Response(text="<html>Welcome</html>", content_type="text/html")

    assert "is not a Pulsar" in await rejected_with(web_page)


async def test_a_page_that_is_not_there_on_a_server_that_is_no_pulsar() -> None:
    async def not_found(_request: web.Request) -> web.StreamResponse:
        return web.Response(text="<html>404</html>", status=404)

    assert "is not a Pulsar" in await rejected_with(not_found)


async def test_a_port_that_speaks_no_http() -> None:
    async def rude(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.close()
        return web.Response()

    assert "cannot be reached" in await rejected_with(rude)


async def test_certificates_that_are_not_there() -> None:
    with pytest.raises(
        StartupError, match=r"certificates /no/such\.pem cannot be used: No such file"
    ):
        await ask(AdminConfig("https://127.0.0.1:9", trust_certificates=Path("/no/such.pem")))


async def test_the_token_goes_with_us_to_the_broker_that_owns_the_namespace() -> None:
    async def made(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=204)

    async with standing_in(made) as owner:

        async def onward(request: web.Request) -> web.StreamResponse:
            raise web.HTTPTemporaryRedirect(f"{owner.url}{request.path_qs}")

        async with standing_in(onward) as first, open_admin(AdminConfig(first.url, TOKEN)) as admin:
            await admin.post("namespaces", "t", "n", "retention", body={"a": 1}, kind="x")
    assert owner.asked == [("POST", "/admin/v2/namespaces/t/n/retention")]
    assert owner.tokens == [f"Bearer {TOKEN}"]
    assert owner.bodies == [{"a": 1}]


async def test_the_token_does_not_follow_to_another_kind_of_connection() -> None:
    async def elsewhere(_request: web.Request) -> web.StreamResponse:
        raise web.HTTPTemporaryRedirect("https://127.0.0.1:9/")

    assert "it sends us from http to https" in await rejected_with(elsewhere)


async def test_going_round_in_circles_ends() -> None:
    async def round_again(request: web.Request) -> web.StreamResponse:
        raise web.HTTPTemporaryRedirect(request.path)

    assert "sent us on more than 5 times" in await rejected_with(round_again)


async def asked_with(answer: Answer, *path: str) -> StandIn:
    async with standing_in(answer) as server, open_admin(AdminConfig(server.url)) as admin:
        await PulsarAdmin.put(admin, *path)
    return server


async def test_what_another_made_meanwhile_is_fine() -> None:
    server = await asked_with(
        failing(409, "This topic already exists"), "persistent", "t", "n", "x"
    )
    assert server.asked == [("PUT", "/admin/v2/persistent/t/n/x")]
    assert server.tokens == [None]


async def test_what_passes_is_waited_for() -> None:
    statuses = iter([412, 503, 204])

    async def busy(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=next(statuses))

    assert len((await asked_with(busy, "tenants", "t")).asked) == 3


async def test_names_are_quoted() -> None:
    server = await asked_with(failing(409, "exists"), "tenants", "a/b?c")
    assert server.asked == [("PUT", "/admin/v2/tenants/a/b?c")]  # as the server reads it
