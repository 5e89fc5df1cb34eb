"""A mail server on this machine that keeps what it is sent, and refuses what it is told to."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage

from survey.config import Smtp

REFUSED = "refused"  # how an address begins that it refuses
BREAKS = "breaks"  # how one begins after whose mail it hangs up without an answer


class MailServer(socketserver.ThreadingTCPServer):
    """Speaks as much of SMTP as smtplib asks for; ``mails``: those it accepted."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Conversation)
        self.mails: list[EmailMessage] = []

    @property
    def settings(self) -> Smtp:
        """The survey's settings for it."""
        return Smtp("127.0.0.1", "survey@example.org", self.server_address[1], security="none")

    @property
    def recipients(self) -> list[str]:
        """To whom the mails went, in their order."""
        return [str(mail["To"]) for mail in self.mails]


class Conversation(socketserver.StreamRequestHandler):
    """One connection."""

    server: MailServer

    def handle(self) -> None:
        self._say("220 here")
        recipient = ""
        for line in self.rfile:
            words = line.decode().strip()
            if words.upper().startswith("RCPT"):
                recipient = words.partition("<")[2].rstrip(">")
                refused = recipient.startswith(REFUSED)
                self._say("550 5.1.1 no such person" if refused else "250 ok")
            elif words.upper() == "DATA":
                self._say("354 go on")
                content = b"".join(iter(self.rfile.readline, b".\r\n"))
                mail = message_from_bytes(content, policy=policy.default)
                assert isinstance(mail, EmailMessage)
                self.server.mails.append(mail)
                if recipient.startswith(BREAKS):
                    return
                self._say("250 taken")
            elif words.upper() == "QUIT":
                self._say("221 bye")
                return
            else:
                self._say("250 ok")

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


@contextmanager
def mail_server() -> Iterator[MailServer]:
    """Run a mail server meanwhile."""
    with MailServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
