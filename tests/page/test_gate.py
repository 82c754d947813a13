"""Who may come in, and what they get: nothing but the page."""

import contextlib
import http.client
import socket

import pytest

from ur_admittance import page as dashboard
from ur_admittance.errors import UrAdmittanceError
from ur_admittance.page.gate import is_loopback, listen, token_for

TOKEN = "correct-horse-battery"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with dashboard.start("gate-test", port=0, folder=tmp_path_factory.mktemp("page")) as page:
        yield page


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    with dashboard.start("gate-test", "0.0.0.0", 0, TOKEN, tmp_path_factory.mktemp("page")) as page:
        yield page


def port_of(page):
    return int(page.url.split(":")[2].split("/")[0])


def ask(page, path="/", **headers):
    """Status, headers and body; header names with _ for -."""
    connection = http.client.HTTPConnection("127.0.0.1", port_of(page), timeout=10)
    connection.putrequest("GET", path, skip_host=True, skip_accept_encoding=True)
    for name, value in ({"Host": f"127.0.0.1:{port_of(page)}"} | headers).items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read()


def websocket(page, **headers):
    handshake = {
        "Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Version": "13",
        "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }  # fmt: skip
    return ask(page, **(handshake | headers))[0]


def test_the_page_is_one_document_without_references_to_the_network(page):
    status, headers, body = ask(page)
    assert status == 200
    assert b"stop-everything" in body
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy
    assert "*" not in policy


@pytest.mark.parametrize(
    "path",
    ["/index.html", "/../index.html", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd", "/x"],
)
def test_no_path_reaches_the_file_system(page, path):
    status, _, body = ask(page, path)
    assert status == 404
    assert b"root:" not in body


def test_a_foreign_name_for_this_computer_gets_nothing(page):
    """DNS rebinding: evil.example points to 127.0.0.1 in the victim's browser."""
    assert ask(page, Host="evil.example:8080")[0] == 403
    assert ask(page, Host=f"localhost:{port_of(page)}")[0] == 200


def test_a_foreign_web_page_cannot_open_the_websocket(page):
    own = f"http://127.0.0.1:{port_of(page)}"
    assert websocket(page, Origin="http://evil.example") == 403
    assert websocket(page, Origin="null") == 403
    assert websocket(page) == 403
    assert websocket(page, Origin=own) == 101


def test_another_address_demands_the_token_and_says_so(guarded):
    assert f"token={TOKEN}" in guarded.url
    assert "whoever has this address" in guarded.sentence
    status, _, body = ask(guarded)
    assert status == 403
    assert b"needs its token" in body
    assert ask(guarded, "/?token=wrong-token")[0] == 403
    status, headers, _ = ask(guarded, f"/?token={TOKEN}")
    assert status == 200
    assert "HttpOnly" in headers["Set-Cookie"]
    assert "SameSite=Strict" in headers["Set-Cookie"]


def test_the_websocket_demands_the_token_too(guarded):
    own = f"http://127.0.0.1:{port_of(guarded)}"
    assert websocket(guarded, Origin=own) == 403
    cookie = f"ur_admittance_{port_of(guarded)}={TOKEN}"
    assert websocket(guarded, Origin=own, Cookie=cookie) == 101
    assert websocket(guarded, Origin="http://evil.example", Cookie=cookie) == 403
    assert websocket(guarded, Origin=own, Cookie=f"ur_admittance_{port_of(guarded)}=guess-guess") == 403


def test_without_being_told_the_page_listens_on_this_computer_only(page):
    """The other addresses of this computer refuse the connection."""
    outside = "127.0.0.1"
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing; tells which own address a packet would leave from
        outside = probe.getsockname()[0]
    if is_loopback(outside):
        pytest.skip("this computer has no address but its own")
    with pytest.raises(OSError, match=r"refused|timed out"):
        socket.create_connection((outside, port_of(page)), timeout=3)


def test_a_token_is_made_up_for_every_other_address_and_a_weak_one_refused():
    assert token_for("127.0.0.1", None) == ""
    assert token_for("::1", None) == ""
    assert len(token_for("0.0.0.0", None)) > 20
    assert token_for("0.0.0.0", None) != token_for("0.0.0.0", None)
    with pytest.raises(UrAdmittanceError, match="at least 8 letters"):
        token_for("0.0.0.0", "abc")


def test_a_port_that_is_taken_is_told_in_a_sentence(page, tmp_path):
    with pytest.raises(UrAdmittanceError, match=r"cannot listen on 127\.0\.0\.1, port \d+: Address already in use"):
        dashboard.start("gate-test", port=port_of(page), folder=tmp_path)
    with pytest.raises(UrAdmittanceError, match="cannot be found"):
        listen("no-such-host.invalid", None)


def test_the_page_process_does_not_load_the_controller(page):
    """It maps neither the compiler nor the physics: nothing of the loop runs there."""
    from pathlib import Path

    maps = Path(f"/proc/{page.pid}/maps").read_text()
    for library in ("llvmlite", "libmujoco"):
        assert library not in maps


def test_a_script_of_another_page_cannot_stop_the_arm(page):
    assert ask(page, "/pulse")[2] == b'{"loop": false}'
    assert ask(page, "/stop")[0] == 404, "no header: an image or a link of any page could ask for it"
    assert ask(page, "/stop", X_Stop="arm")[0] == 200
    assert ask(page, "/stop", X_Stop="arm", Origin="http://example.com")[0] == 403
