# SPDX-License-Identifier: LGPL-2.1-or-later
"""As much of a D-Bus client as the tests need, with nothing between them and the socket.

    bus = Connection("unix:path=...", uid=None)
    bus.call(DEST, PATH, INTERFACE, "Member", "u", [7])   the arguments of the answer, or raises BusError
    serial = bus.send(...)                                does not wait for the answer
    bus.typed = True                                      variants in answers are then (signature, value), as in calls
    bus.signal(INTERFACE, "Member", timeout)              arguments of the next such signal, None when none came
"""
import os
import socket
import struct
import time

CALL, RETURN, ERROR, SIGNAL = 1, 2, 3, 4
DRIVER = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")


class BusError(Exception):
    def __init__(self, name, text):
        super().__init__(f"{name}: {text}")
        self.name = name
        self.text = text


class Timeout(Exception):
    pass


def split_signature(signature):
    """The complete types of a signature."""
    types, i = [], 0
    while i < len(signature):
        start = i
        while signature[i] == "a":
            i += 1
        if signature[i] in "({":
            depth = 0
            while True:
                depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(signature[i], 0)
                i += 1
                if depth == 0:
                    break
        else:
            i += 1
        types.append(signature[start:i])
    return types


ALIGNMENT = {"y": 1, "b": 4, "n": 2, "q": 2, "i": 4, "u": 4, "x": 8, "t": 8, "d": 8, "s": 4, "o": 4, "g": 1, "v": 1,
             "a": 4, "(": 8, "{": 8}
FIXED = {"y": "<B", "b": "<I", "n": "<h", "q": "<H", "i": "<i", "u": "<I", "x": "<q", "t": "<Q", "d": "<d"}


class Writer:
    def __init__(self):
        self.data = bytearray()

    def align(self, n):
        self.data.extend(b"\0" * (-len(self.data) % n))

    def write(self, kind, value):
        self.align(ALIGNMENT[kind[0]])
        if kind in FIXED:
            self.data += struct.pack(FIXED[kind], value)
        elif kind in "so":
            raw = value.encode()
            self.data += struct.pack("<I", len(raw)) + raw + b"\0"
        elif kind == "g":
            self.data += bytes([len(value)]) + value.encode() + b"\0"
        elif kind == "v":
            self.write("g", value[0])
            self.write(*value)
        elif kind[0] == "a":
            self._array(kind[1:], value)
        else:
            for item_kind, item in zip(split_signature(kind[1:-1]), value):
                self.write(item_kind, item)

    def _array(self, kind, items):
        at = len(self.data)
        self.data += b"\0\0\0\0"
        self.align(ALIGNMENT[kind[0]])
        start = len(self.data)
        for item in items.items() if isinstance(items, dict) else items:
            self.write(kind, item)
        self.data[at:at + 4] = struct.pack("<I", len(self.data) - start)


class Reader:
    def __init__(self, data, at=0, typed=False):
        self.data = data
        self.at = at
        self.typed = typed

    def align(self, n):
        self.at += -self.at % n

    def _take(self, n):
        self.at += n
        return self.data[self.at - n:self.at]

    def read(self, kind):
        self.align(ALIGNMENT[kind[0]])
        if kind in FIXED:
            value, = struct.unpack(FIXED[kind], self._take(struct.calcsize(FIXED[kind])))
            return bool(value) if kind == "b" else value
        if kind in "sog":
            n = self._take(1)[0] if kind == "g" else struct.unpack("<I", self._take(4))[0]
            return bytes(self._take(n + 1)[:-1]).decode()
        if kind == "v":
            inner = self.read("g")
            return (inner, self.read(inner)) if self.typed else self.read(inner)
        if kind[0] == "a":
            return self._array(kind[1:])
        return tuple(self.read(k) for k in split_signature(kind[1:-1]))

    def _array(self, kind):
        n, = struct.unpack("<I", self._take(4))
        self.align(ALIGNMENT[kind[0]])
        end, items = self.at + n, []
        while self.at < end:
            items.append(self.read(kind))
        return dict(items) if kind[0] == "{" else items


class Message:
    def __init__(self, kind, serial, fields, body):
        self.kind = kind
        self.serial = serial
        self.path, self.interface, self.member = fields.get(1), fields.get(2), fields.get(3)
        self.error, self.reply_to, self.sender = fields.get(4), fields.get(5), fields.get(7)
        self.body = body


class Connection:
    def __init__(self, address, timeout=10):
        self.timeout = timeout
        self.typed = False
        self.serial = 0
        self.buffer = bytearray()
        self.signals = []
        self.answers = {}
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        self.socket.connect(address.split("unix:path=", 1)[1].split(",")[0])
        self.socket.sendall(b"\0AUTH EXTERNAL " + str(os.geteuid()).encode().hex().encode() + b"\r\n")
        line = b""
        while not line.endswith(b"\r\n"):
            byte = self.socket.recv(1)
            if not byte:
                raise ConnectionError("the bus closed the connection")
            line += byte
        if not line.startswith(b"OK"):
            raise ConnectionError(f"the bus does not accept us: {line!r}")
        self.socket.sendall(b"BEGIN\r\n")
        self.name, = self.call(*DRIVER, "Hello")

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, destination, path, interface, member, signature="", arguments=()):
        self.serial += 1
        body = Writer()
        for kind, value in zip(split_signature(signature), arguments):
            body.write(kind, value)
        fields = [(1, ("o", path)), (2, ("s", interface)), (3, ("s", member)), (6, ("s", destination))]
        if signature:
            fields.append((8, ("g", signature)))
        head = Writer()
        for kind, value in zip("yyyyuu", (ord("l"), CALL, 0, 1, len(body.data), self.serial)):
            head.write(kind, value)
        head.write("a(yv)", fields)
        head.align(8)
        self.socket.sendall(bytes(head.data + body.data))
        return self.serial

    def _parse(self):
        """One message out of the buffer, None when it is not complete."""
        if len(self.buffer) < 16:
            return None
        n_body, serial, n_fields = struct.unpack("<III", self.buffer[4:16])
        start = 16 + n_fields + -(16 + n_fields) % 8
        if len(self.buffer) < start + n_body:
            return None
        fields = dict(Reader(self.buffer, 12).read("a(yv)"))
        body = Reader(bytes(self.buffer[start:start + n_body]), typed=self.typed)
        arguments = [body.read(kind) for kind in split_signature(fields.get(8, ""))]
        message = Message(self.buffer[1], serial, fields, arguments)
        del self.buffer[:start + n_body]
        return message

    def _receive(self, deadline):
        while True:
            message = self._parse()
            if message:
                return message
            left = deadline - time.monotonic()
            if left <= 0:
                raise Timeout()
            self.socket.settimeout(left)
            try:
                data = self.socket.recv(1 << 18)
            except socket.timeout:
                raise Timeout() from None
            if not data:
                raise ConnectionError("the bus closed the connection")
            self.buffer += data

    def _sort(self, message):
        if message.kind == SIGNAL:
            self.signals.append(message)
        elif message.reply_to:
            self.answers[message.reply_to] = message

    def answer(self, serial, timeout=None):
        deadline = time.monotonic() + (timeout or self.timeout)
        while serial not in self.answers:
            self._sort(self._receive(deadline))
        message = self.answers.pop(serial)
        if message.kind == ERROR:
            raise BusError(message.error, message.body[0] if message.body else "")
        return message.body

    def call(self, *arguments, timeout=None):
        return self.answer(self.send(*arguments), timeout)

    def driver(self, member, signature="", arguments=()):
        return self.call(*DRIVER, member, signature, arguments)

    def signal(self, interface, member, timeout):
        deadline = time.monotonic() + timeout
        while True:
            for i, message in enumerate(self.signals):
                if (message.interface, message.member) == (interface, member):
                    del self.signals[i]
                    return message.body
            try:
                self._sort(self._receive(deadline))
            except Timeout:
                return None
