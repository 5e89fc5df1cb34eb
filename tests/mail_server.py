"""A mail server on this machine that keeps what it is sent, and refuses what it is told to."""

import socketserver
import ssl
import subprocess
import threading
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from survey.config import Smtp

REFUSED = "refused"  # how an address begins that it refuses
HOST, USER, PASSWORD = "127.0.0.1", "survey", "kettles seven"
BREAKS = "breaks"  # how one begins after whose mail it hangs up without an answer


class MailServer(socketserver.ThreadingTCPServer):
    """Speaks as much of SMTP as smtplib asks for; ``mails``: those it accepted.

    With a certificate it takes mails and passwords over TLS alone, ``security`` says from when.
    """

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, certificate: Path | None = None, security: str = "none") -> None:
        super().__init__(("127.0.0.1", 0), Conversation)
        self.mails: list[EmailMessage] = []
        self.security, self.context = security, None
        if certificate is not None:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificate)

    @property
    def settings(self) -> Smtp:
        """The survey's settings for it."""
        user, password = (USER, PASSWORD) if self.context else ("", "")
        where = (HOST, "survey@example.org", self.server_address[1], user, password)
        return Smtp(*where, security=self.security)

    @property
    def recipients(self) -> list[str]:
        """To whom the mails went, in their order."""
        return [str(mail["To"]) for mail in self.mails]


class Conversation(socketserver.StreamRequestHandler):
    """One connection."""

    server: MailServer

    def handle(self) -> None:
        try:
            if self.server.security == "tls":
                self._encrypt()
            self._converse()
        except (ssl.SSLError, ConnectionError):
            return  # a client that does not trust the certificate hangs up

    def finish(self) -> None:
        super().finish()
        self.connection.close()  # which is not the socket that the server closes once encrypted

    def _encrypt(self) -> None:
        assert self.server.context is not None
        self.connection = self.server.context.wrap_socket(self.connection, server_side=True)
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)

    def _converse(self) -> None:
        self._say("220 here")
        recipient, may_send = "", self.server.context is None
        while line := self.rfile.readline():  # of another file once the connection is encrypted
            words = line.decode().strip()
            is_open = self.server.security == "starttls" and not self._is_encrypted
            if words.upper().startswith("EHLO"):
                ways = ["STARTTLS"] if is_open else ["AUTH PLAIN"] if self.server.context else []
                self._say("\r\n".join(["250-here", *(f"250-{way}" for way in ways), "250 HELP"]))
            elif words.upper() == "STARTTLS" and is_open:
                self._say("220 go on")
                self._encrypt()
            elif words.upper().startswith("AUTH PLAIN") and not is_open:
                _, user, password = b64decode(words.split()[-1]).decode().split("\0")
                may_send = (user, password) == (USER, PASSWORD)
                self._say("235 welcome" if may_send else "535 5.7.8 bad credentials")
            elif words.upper().startswith("MAIL") and not may_send:
                self._say("530 5.7.0 sign in first")
            elif words.upper().startswith("RCPT"):
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

    @property
    def _is_encrypted(self) -> bool:
        return isinstance(self.connection, ssl.SSLSocket)

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


@contextmanager
def mail_server(certificate: Path | None = None, security: str = "none") -> Iterator[MailServer]:
    """Run a mail server meanwhile."""
    with MailServer(certificate, security) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def make_certificate(folder: Path, host: str = HOST) -> Path:
    """Make a certificate for an address or name that vouches for itself, with its key."""
    file = folder / f"{host}.pem"
    name = ["-subj", f"/CN={host}"]
    name += ["-addext", f"subjectAltName={'IP' if host == HOST else 'DNS'}:{host}"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", *name]
    subprocess.run([*made, "-keyout", file, "-out", f"{file}.crt"], check=True, capture_output=True)
    file.write_text(file.read_text() + Path(f"{file}.crt").read_text())
    return file
