"""Many connections of a client in one thread: each sends a request after the answer to the one
before."""

import asyncio
import re

LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Connection(asyncio.Protocol):
    """A subclass has next_request(), which returns bytes, or None at the end, and
    answered(status, body)."""

    def __init__(self, address):
        self.host, self.port = address.rsplit(":", 1)
        self.ended = asyncio.get_running_loop().create_future()
        self.received, self.size = bytearray(), None
        self.is_waiting = False  # for an answer

    async def connect(self):
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: self, self.host, int(self.port))

    def connection_made(self, transport):
        self.transport = transport
        self.send_next()

    def send_next(self):
        data = self.next_request()
        self.is_waiting = data is not None
        if self.is_waiting:
            self.transport.write(data)
        else:
            self.transport.close()
            self.ended.set_result(None)

    def close_and_connect(self, data):
        """Sends all or a part of a request, closes the connection, and goes on with another one."""
        self.is_waiting = False
        self.transport.write(data)
        self.transport.close()
        self.reconnecting = asyncio.get_running_loop().create_task(self.connect())

    def data_received(self, data):
        self.received += data
        if self.size is None:
            end = self.received.find(b"\r\n\r\n")
            if end < 0:
                return
            self.body = end + 4
            self.size = self.body + int(LENGTH.search(self.received, 0, end)[1])
        if len(self.received) < self.size:
            return
        status, body = int(self.received[9:12]), bytes(self.received[self.body:])
        self.received.clear()
        self.size, self.is_waiting = None, False
        self.answered(status, body)
        self.send_next()

    def connection_lost(self, error):
        if self.is_waiting:
            self.ended.set_exception(error or ConnectionError("the server closed a connection"))
