# SPDX-License-Identifier: LGPL-2.1-or-later
"""Something that owns the daemon's name and answers what a test wants: errors, nonsense, nothing at all.

    with FakeDaemon(address, {"GetStatus": ("s", ["{}"]), "GetTopology": Refusal(NAME, "text"), "Get": None}):

A member maps to (signature, arguments), a Refusal, None (no answer at all) or a function of the arguments that returns
one of these. A member that is not named is refused as unknown.
"""
import contextlib
import threading
import time

from minibus import CALL, ERROR, RETURN, Connection, Timeout, Writer, split_signature

NAME = "org.numadxen.NumadXen1"


class Refusal:
    def __init__(self, name, text=""):
        self.name = name
        self.text = text


class FakeDaemon(Connection):
    def __init__(self, address, answers):
        super().__init__(address)
        self.answers_by_member = answers
        self.stopped = False
        if self.driver("RequestName", "su", [NAME, 0])[0] != 1:
            raise RuntimeError("the name is taken")
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def __exit__(self, *_):
        self.stopped = True
        self.thread.join()
        self.close()

    def _serve(self):
        while not self.stopped:
            with contextlib.suppress(Timeout):
                message = self._receive(time.monotonic() + 0.1)
                if message.kind == CALL:
                    self._answer(message)

    def _answer(self, message):
        answer = self.answers_by_member.get(
            message.member, Refusal("org.freedesktop.DBus.Error.UnknownMethod", f"no method {message.member}"))
        if callable(answer):
            answer = answer(message.body)
        if answer is None:
            return
        if isinstance(answer, Refusal):
            self._reply(ERROR, message, [(4, ("s", answer.name))], "s", [answer.text])
        else:
            self._reply(RETURN, message, [], *answer)

    def _reply(self, kind, message, fields, signature, arguments):
        self.serial += 1
        body = Writer()
        for value_kind, value in zip(split_signature(signature), arguments):
            body.write(value_kind, value)
        head = Writer()
        for value_kind, value in zip("yyyyuu", (ord("l"), kind, 1, 1, len(body.data), self.serial)):
            head.write(value_kind, value)
        head.write("a(yv)", [*fields, (5, ("u", message.serial)), (6, ("s", message.sender)), (8, ("g", signature))])
        head.align(8)
        self.socket.settimeout(10)
        self.socket.sendall(bytes(head.data + body.data))
