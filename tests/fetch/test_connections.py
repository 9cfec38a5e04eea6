import http.server
import os
import socket
import ssl
import threading
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.fetch.connections import Connections, encoded_host, target
from datasets_core.fetch.http import ConnectionFailedError, HttpClient, InvalidRequestError, TransientError, trusted_now


@pytest.fixture
def connections():
    made = Connections(lambda host, port: [host], connect_seconds=5.0, read_seconds=5.0)
    yield made
    made.close()


def get(connections, url, **headers):
    """The status, the headers and the body of an answer."""
    answer = connections.send("GET", urlsplit(url), headers, None)
    try:
        return answer.status, answer.headers, b"".join(answer.iter_raw())
    finally:
        answer.close()


_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\\", exclude_categories=["Cc", "Cs"]), max_size=12)


@given(st.lists(_TEXT.map(lambda text: text.replace("#", "").replace("?", ""))), st.none() | _TEXT)
def test_a_url_is_written_as_httpx2_writes_it(segments, query):
    url = "http://host/" + "/".join(segments) + ("" if not query else f"?{query.replace('#', '')}")
    assert target(urlsplit(url)).encode() == httpx2.URL(url.removesuffix("?")).raw_path


@pytest.mark.parametrize("host", ["Example.ORG", "Bücher.example", "127.0.0.1", "[::1]", "xn--bcher-kva.example"])
def test_a_host_is_written_as_httpx2_writes_it(host):
    url = f"http://{host}/a"
    assert encoded_host(urlsplit(url)).encode() == httpx2.URL(url).raw_host


@pytest.mark.parametrize("url", ["http://a b.é/", "http://-é/a", "http://h/a\0b"])
def test_a_url_that_cannot_be_written_is_refused(url):
    with pytest.raises(InvalidRequestError):
        _ = encoded_host(urlsplit(url)), target(urlsplit(url))


def test_a_header_with_a_line_end_is_refused(site, connections):
    with pytest.raises(InvalidRequestError):
        get(connections, site.at("/a"), Accept="a\r\nHost: other")
    assert site.requests == []


def test_the_host_is_sent_with_a_port_that_is_not_the_usual_one(site, connections):
    assert get(connections, site.at("/a"))[0] == 404
    assert site.heads("host") == [site.url.removeprefix("http://")]


def test_a_connection_is_used_again_after_the_whole_body(site, connections, faults):
    site.pages["/a"], site.pages["/empty"] = faults.page(b"a" * 100_000), faults.page()
    for path in ("/a", "/empty", "/a", "/a"):
        get(connections, site.at(path))
    assert len(site.connections) == 1


def test_a_connection_whose_body_was_not_read_is_closed(site, connections, faults):
    site.pages["/a"] = faults.page(b"a" * 100_000)
    for _ in range(2):
        answer = connections.send("GET", urlsplit(site.at("/a")), {}, None)
        next(answer.iter_raw())
        answer.close()
        answer.close()
    assert len(site.connections) == 2


def test_a_connection_that_the_server_closed_is_not_used_again(connections):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port, closed = server.getsockname()[1], threading.Event()

        def serve():
            for _ in range(2):
                connection, _ = server.accept()
                with connection:
                    connection.recv(1 << 16)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")
                closed.set()

        thread = threading.Thread(target=serve)
        thread.start()
        for _ in range(2):
            closed.clear()
            assert get(connections, f"http://127.0.0.1:{port}/a")[2] == b"a"
            assert closed.wait(10)
        thread.join()


@pytest.mark.parametrize(
    "sent",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnothing\r\n",
        b"HTTP/1.1 two hundred\r\n\r\n",
        b"",
    ],
)
def test_an_answer_that_is_broken_is_no_answer(connections, sent):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            connection, _ = server.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(sent)

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(ConnectionFailedError) as caught:
            get(connections, f"http://127.0.0.1:{server.getsockname()[1]}/a")
        assert caught.value.what == "lost"
        thread.join()


def test_a_body_in_chunks_is_read_and_headers_of_one_name_are_joined(connections):
    with socket.create_server(("127.0.0.1", 0)) as server:
        head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nLink: a\r\nlink: ü\r\n\r\n"

        def serve():
            connection, _ = server.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(head.encode() + b"5\r\nfirst\r\n6\r\nsecond\r\n0\r\n\r\n")

        thread = threading.Thread(target=serve)
        thread.start()
        _, headers, body = get(connections, f"http://127.0.0.1:{server.getsockname()[1]}/a")
        assert (headers["link"], body) == ("a, ü", b"firstsecond")
        thread.join()


def test_nobody_listens():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with HttpClient() as client, pytest.raises(TransientError) as caught, client.send("GET", f"http://127.0.0.1:{port}/a"):
        pass
    assert caught.value.is_unreachable
    assert caught.value.origin == ("http", "127.0.0.1", port)


def test_cookies_are_sent_back_to_their_server_alone(site, other_site, connections, faults):
    site.pages["/a"] = other_site.pages["/a"] = faults.page(headers={"Set-Cookie": "session=1; Path=/"})
    site.pages["/b"] = faults.page()
    for url in (site.at("/a"), site.at("/b"), other_site.at("/a").replace("127.0.0.1", "localhost")):
        get(connections, url)
    assert site.heads("cookie") == [None, "session=1"]
    assert other_site.heads("cookie") == [None]


def test_threads_have_connections_of_their_own(site, connections, faults):
    site.pages["/a"] = faults.page(b"a" * 50_000)
    found = []
    threads = [threading.Thread(target=lambda: found.append(get(connections, site.at("/a"))[2])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [b"a" * 50_000] * 8


def test_a_closed_client_closes_what_is_in_use_after_it(site, faults):
    site.pages["/a"] = faults.page(b"a" * 10)
    made = Connections(lambda host, port: [host], connect_seconds=5.0, read_seconds=5.0)
    answer = made.send("GET", urlsplit(site.at("/a")), {}, None)
    made.close()
    assert b"".join(answer.iter_raw()) == b"a" * 10
    answer.close()
    for _ in range(2):
        assert get(made, site.at("/a"))[2] == b"a" * 10
    assert len(site.connections) == 3


def test_a_proxy_is_asked_for_what_goes_over_it(site, faults):
    site.pages["http://name.invalid/a"] = faults.page(b"over the proxy")
    with HttpClient(proxies={"http": site.url}) as client, client.send("GET", "http://name.invalid/a") as answer:
        assert b"".join(answer.chunks()) == b"over the proxy"


def test_a_proxy_that_is_not_there_is_told(site, faults):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    proxies = {"http": f"http://127.0.0.1:{port}"}
    with (
        HttpClient(proxies=proxies) as client,
        pytest.raises(TransientError) as caught,
        client.send("GET", "http://a.invalid/a"),
    ):
        pass
    assert caught.value.is_unreachable


# https: a server with a certificate of its own, for `localhost`, `data.invalid` and 127.0.0.1.

_CERTIFICATES = Path(__file__).with_name("certificates")


class _Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "6")
        self.end_headers()
        self.wfile.write(b"secret")

    def log_message(self, *args):
        pass


@pytest.fixture
def secure_port():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_CERTIFICATES / "server.pem")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def over_tls(url):
    made = Connections(lambda host, port: ["127.0.0.1"], connect_seconds=5.0, read_seconds=5.0)
    try:
        return get(made, url)[2]
    finally:
        made.close()


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "data.invalid"])
def test_a_trusted_certificate_of_the_host_is_accepted(host, secure_port, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(_CERTIFICATES / "cert.pem"))
    assert over_tls(f"https://{host}:{secure_port}/a") == b"secret"


def test_a_certificate_of_another_host_is_refused(secure_port, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(_CERTIFICATES / "cert.pem"))
    with pytest.raises(ConnectionFailedError) as caught:
        over_tls(f"https://other.invalid:{secure_port}/a")
    assert isinstance(caught.value.__cause__, ssl.SSLCertVerificationError)


def test_a_certificate_that_is_not_trusted_is_refused(secure_port, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    with pytest.raises(ConnectionFailedError) as caught:
        over_tls(f"https://localhost:{secure_port}/a")
    assert isinstance(caught.value.__cause__, ssl.SSLCertVerificationError)


def test_the_certificates_of_the_machine_are_those_of_httpx2(monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    ours, theirs = trusted_now(), httpx2.create_ssl_context()
    assert ours.check_hostname and ours.verify_mode == ssl.CERT_REQUIRED
    assert (ours.minimum_version, ours.verify_flags, ours.options) == (
        theirs.minimum_version,
        theirs.verify_flags,
        theirs.options,
    )
    if os.name == "posix" and hasattr(theirs, "cert_store_stats"):
        assert ours.cert_store_stats() == theirs.cert_store_stats()
