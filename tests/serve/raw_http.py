"""HTTP as bytes: for requests that a client library does not send."""

import socket


def read_response(stream):
    """Reads a response: (status, headers, body); None at the end."""
    line = stream.readline()
    if not line:
        return None
    status = int(line.split()[1])
    headers = {}
    while (header := stream.readline()) not in (b"\r\n", b""):
        name, value = header.decode().split(":", 1)
        headers[name.lower()] = value.strip()
    if headers.get("transfer-encoding") == "chunked":
        return status, headers, b"".join(read_chunks(stream))
    return status, headers, stream.read(int(headers.get("content-length", 0)))


def read_chunks(stream):
    """The chunks of a body, as they come."""
    while size := int(stream.readline(), 16):
        chunk = stream.read(size)
        assert len(chunk) == size and stream.readline() == b"\r\n", "an incomplete chunk"
        yield chunk
    assert stream.readline() == b"\r\n", "no end of the chunks"


def exchange(server, data, count=1):
    """Sends bytes, and returns the given number of responses, or those before the end."""
    with server.socket() as connection:
        connection.sendall(data)
        with connection.makefile("rb") as stream:
            responses = [read_response(stream) for _ in range(count)]
    return responses[0] if count == 1 else responses


def send_all(connection, data):
    """Sends bytes to a server that can answer and close before it has read them."""
    try:
        connection.sendall(data)
    except (BrokenPipeError, ConnectionResetError):
        pass


def reset(connection):
    """Closes a connection without the usual end."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    connection.close()


def post(path, body, *headers):
    lines = [f"POST {path} HTTP/1.1", "Host: test", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
