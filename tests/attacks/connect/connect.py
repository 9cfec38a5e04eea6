"""Connects, sends, listens and looks up names."""

import asyncio
import ctypes
import ftplib
import http.client
import os
import smtplib
import socket
import ssl
import struct
import urllib.request

from .attacker import LIBC, WHERE, Attacker, attempt, system_call

PORT, DATAGRAMS = WHERE["port"], WHERE["datagrams"]


def _sent(kind, family, address):
    with socket.socket(family, kind) as made:
        made.connect(address)
        made.send(b"secret")
    return address


def _by_library():
    made = LIBC.socket(socket.AF_INET, socket.SOCK_STREAM, 0)
    if made < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    address = struct.pack("=H", socket.AF_INET) + struct.pack("!H4s", PORT, bytes([127, 0, 0, 1])) + bytes(8)
    if LIBC.connect(made, address, len(address)) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return made


def _by_other_descriptor(number):
    address = struct.pack("=H", socket.AF_INET) + struct.pack("!H4s", PORT, bytes([127, 0, 0, 1])) + bytes(8)
    return system_call("connect", number, address, len(address)) or True


def _by_event_loop():
    async def connected():
        _, writer = await asyncio.open_connection("127.0.0.1", PORT)
        writer.close()
        return True

    return asyncio.run(connected())


def _by_package(name):
    def way():
        module = __import__(name)
        return module.get(f"http://127.0.0.1:{PORT}/{name}", timeout=2)

    return way


def _by_arrow():
    from pyarrow import flight

    return flight.connect(f"grpc://127.0.0.1:{PORT}").wait_for_available(0.1) or True


def ways():
    """Each way, with its name."""
    stream, datagram = socket.SOCK_STREAM, socket.SOCK_DGRAM
    yield "tcp", lambda: _sent(stream, socket.AF_INET, ("127.0.0.1", PORT))
    yield "tcp of ipv6", lambda: _sent(stream, socket.AF_INET6, ("::1", PORT))
    yield "create_connection", lambda: socket.create_connection(("127.0.0.1", PORT), timeout=2)
    yield "udp", lambda: _sent(datagram, socket.AF_INET, ("127.0.0.1", DATAGRAMS))
    yield "udp sendto", lambda: socket.socket(socket.AF_INET, datagram).sendto(b"secret", ("127.0.0.1", DATAGRAMS))
    yield "unix", lambda: _sent(stream, socket.AF_UNIX, WHERE["unix"])
    yield "abstract", lambda: _sent(stream, socket.AF_UNIX, "\0" + WHERE["abstract"])
    yield "netlink", lambda: socket.socket(16, socket.SOCK_RAW, 0)
    yield "packets", lambda: socket.socket(17, socket.SOCK_RAW, 0)
    yield "vsock", lambda: socket.socket(40, stream)
    yield "raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)
    yield "socketpair", socket.socketpair
    yield "listen", lambda: socket.create_server(("127.0.0.1", 0))
    yield "urllib", lambda: urllib.request.urlopen(f"http://127.0.0.1:{PORT}/", timeout=2).read()
    yield "http.client", lambda: http.client.HTTPConnection("127.0.0.1", PORT, timeout=2).request("GET", "/")
    yield "ftp", lambda: ftplib.FTP("127.0.0.1", timeout=2)
    yield "smtp", lambda: smtplib.SMTP("127.0.0.1", PORT, timeout=2)
    yield "tls", lambda: ssl.get_server_certificate(("127.0.0.1", PORT), timeout=2)
    yield "asyncio", _by_event_loop
    for name in ("requests", "httpx", "httpx2"):
        yield name, _by_package(name)
    yield "pyarrow.flight", _by_arrow
    yield "getaddrinfo", lambda: socket.getaddrinfo("example.com", 80)
    yield "gethostbyname", lambda: socket.gethostbyname("example.com")
    yield "libc socket", _by_library
    yield "raw socket", lambda: system_call("socket", socket.AF_INET, stream, 0)
    yield "raw socketpair", lambda: system_call("socketpair", 1, 1, 0, (ctypes.c_int * 2)())
    for number in range(8):
        yield f"connect descriptor {number}", lambda number=number: _by_other_descriptor(number)
    yield "io_uring", lambda: system_call("io_uring_setup", 8, ctypes.create_string_buffer(256))
    yield "userfaultfd", lambda: system_call("userfaultfd", 0)
    yield "bpf", lambda: system_call("bpf", 0, ctypes.create_string_buffer(128), 128)
    yield "sendmsg", lambda: system_call("sendmsg", 4, ctypes.create_string_buffer(56), 0) or True


attempt("import", ways)


class Connect(Attacker):
    """Connects."""

    ways = staticmethod(ways)
