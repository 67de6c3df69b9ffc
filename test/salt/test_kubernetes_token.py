"""Tests the authentication of tokens by TokenReviews of the API server."""

import contextlib
import http.server
import importlib.util
import json
import os
import ssl
import subprocess
import tempfile
import threading
import time
import unittest
from unittest import mock

PATH = os.path.join(os.path.dirname(__file__), "..", "..", "salt", "_auth", "kubernetes_token.py")
spec = importlib.util.spec_from_file_location("kubernetes_token", PATH)
kubernetes_token = importlib.util.module_from_spec(spec)
spec.loader.exec_module(kubernetes_token)

NAME = "system:serviceaccount:stowage:stowage"
GOOD = {"authenticated": True, "user": {"username": NAME}, "audiences": ["salt-api"]}


class Tokens(unittest.TestCase):
    def test_accepts_only_a_status_of_the_account_and_audience(self):
        self.assertTrue(kubernetes_token.is_of(GOOD, NAME, "salt-api"))
        self.assertTrue(kubernetes_token.is_of(GOOD, NAME, None))
        for status in (
            {},
            {**GOOD, "authenticated": False},
            {**GOOD, "authenticated": "yes"},
            {**GOOD, "user": {"username": f"{NAME}2"}},
            {**GOOD, "user": {}},
            {**GOOD, "user": None},
            {**GOOD, "audiences": None},
            {**GOOD, "audiences": ["https://kubernetes.default.svc"]},
            {"authenticated": True, "user": {"username": NAME}},
        ):
            self.assertFalse(kubernetes_token.is_of(status, NAME, "salt-api"), status)

    def test_an_account_without_rights_is_not_reviewed(self):
        kubernetes_token.__opts__ = {"external_auth": {"kubernetes_token": {NAME: ["stowage.*"]}}}
        with mock.patch.object(kubernetes_token, "review", return_value=GOOD) as review:
            self.assertFalse(kubernetes_token.auth(f"{NAME}2", "token"))
            review.assert_not_called()
            self.assertTrue(kubernetes_token.auth(NAME, "token"))

    def test_refuses_an_account_that_is_no_string(self):
        kubernetes_token.__opts__ = {"external_auth": {"kubernetes_token": {NAME: ["stowage.*"]}}}
        self.assertFalse(kubernetes_token.auth([NAME], "token"))

    def test_refuses_all_accounts_without_an_answer_of_the_api_server(self):
        kubernetes_token.__opts__ = {"external_auth": {"kubernetes_token": {NAME: ["stowage.*"]}}}
        for config in ({}, {"url": "http://127.0.0.1:1", "token_file": PATH}, {"url": "https://127.0.0.1:1", "token_file": PATH}):
            kubernetes_token.__opts__["kubernetes_token"] = config
            with self.assertLogs(kubernetes_token.log, "ERROR"):
                self.assertFalse(kubernetes_token.auth(NAME, "token"))


class ApiServer(unittest.TestCase):
    """Tests an API server whose answers are invalid or late."""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = temporary.name
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
            + ["-keyout", f"{cls.folder}/key", "-out", f"{cls.folder}/ca", "-days", "2"]
            + ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
            check=True,
            stderr=subprocess.DEVNULL,
        )

    def setUp(self):
        self.seen = []
        self.token("reviewer.token")

    def token(self, text):
        with open(f"{self.folder}/token", "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())

    def serve(self, answer, tls=True, pair=("ca", "key")):
        """Returns the URL of a server that calls `answer` for each request. The server ends with the test."""
        seen = self.seen

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers.get("content-length", 0)))
                seen.append((self.server.server_port, self.headers.get("authorization")))
                with contextlib.suppress(OSError):
                    answer(self)

            do_GET = do_POST

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*(f"{self.folder}/{name}" for name in pair))
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}"

    def auth(self, url, ca="ca"):
        """Returns whether the token is accepted, and the log."""
        kubernetes_token.__opts__ = {
            "external_auth": {"kubernetes_token": {NAME: ["@stowage"]}},
            "kubernetes_token": {"url": url, "ca_file": f"{self.folder}/{ca}", "token_file": f"{self.folder}/token"},
        }
        with self.assertLogs(kubernetes_token.log) as logged:
            kubernetes_token.log.info("begin")
            return kubernetes_token.auth(NAME, "user.token"), "".join(logged.output[1:])

    @staticmethod
    def say(request, body, status=201, **headers):
        request.send_response(status)
        for name, value in {"content-length": str(len(body)), **headers}.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(body)

    def test_requests_a_review_with_the_token_of_the_reviewer(self):
        self.token(" reviewer.token\n")
        said = json.dumps({"status": GOOD}).encode()
        self.assertEqual(self.auth(self.serve(lambda request: self.say(request, said))), (True, ""))
        self.assertEqual([token for _, token in self.seen], ["Bearer reviewer.token"])

    def test_trusts_an_intermediate_ca_without_its_root(self):
        with open(f"{self.folder}/extensions", "w") as file:
            file.write("basicConstraints=critical,CA:TRUE\nsubjectAltName=IP:127.0.0.1\n")

        def openssl(*arguments):
            subprocess.run(["openssl", *arguments], check=True, stderr=subprocess.DEVNULL, cwd=self.folder)

        for name, signer in (("intermediate", "ca"), ("server", "intermediate")):
            key = "key" if signer == "ca" else f"{signer}.key"
            openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
            openssl("x509", "-req", "-in", f"{name}.csr", "-out", name, "-days", "2", "-extfile", "extensions",
                    "-CA", signer, "-CAkey", key, "-set_serial", str(len(name)))
        said = json.dumps({"status": GOOD}).encode()
        url = self.serve(lambda request: self.say(request, said), pair=("server", "server.key"))
        self.assertEqual(self.auth(url, ca="intermediate"), (True, ""))
        accepted, logged = self.auth(url)
        self.assertFalse(accepted)
        self.assertIn("CERTIFICATE_VERIFY_FAILED", logged)

    def test_the_content_of_an_invalid_token_file_is_not_logged(self):
        url = self.serve(lambda request: self.say(request, b"{}"))
        for text in ("reviewer.SECRET\nsecond line\n", "reviewer.SECRET two", b"SECRET\xff", "SECRET\0", ""):
            self.token(text)
            let_in, logged = self.auth(url)
            self.assertFalse(let_in)
            self.assertIn(f"{self.folder}/token contains no token", logged)
            self.assertNotIn("SECRET", logged)
        self.assertEqual(self.seen, [])

    def test_sends_no_token_without_tls(self):
        let_in, logged = self.auth(self.serve(lambda request: self.say(request, b"{}"), tls=False))
        self.assertFalse(let_in)
        self.assertIn("url must begin with https://", logged)
        self.assertEqual(self.seen, [])

    def test_follows_no_redirect(self):
        said = json.dumps({"status": GOOD}).encode()
        elsewhere = self.serve(lambda request: self.say(request, said), tls=False)
        for status in (301, 302, 303, 307, 308):
            self.seen.clear()
            url = self.serve(lambda request, status=status: self.say(request, b"", status, location=elsewhere))
            let_in, logged = self.auth(url)
            self.assertEqual((let_in, len(self.seen)), (False, 1), status)
            self.assertIn(str(status), logged)

    def test_an_endless_answer_times_out(self):
        over = threading.Event()
        self.addCleanup(over.set)

        def drip(request):
            request.wfile.write(b"HTTP/1.1 201 Created\r\n")
            while not over.wait(0.05):
                request.wfile.write(b"x-a: b\r\n")

        began = time.monotonic()
        with mock.patch.object(kubernetes_token, "TIMEOUT", 0.5):
            let_in, logged = self.auth(self.serve(drip))
        self.assertFalse(let_in)
        self.assertIn("no answer within 0.5 s", logged)
        self.assertLess(time.monotonic() - began, 3)

    def test_refuses_all_accounts_after_an_invalid_answer(self):
        for said in (b"", b"no JSON", b"[]", b"null", b"{}", b'{"status": null}', b" " * (kubernetes_token.LONGEST + 1)):
            let_in, logged = self.auth(self.serve(lambda request, said=said: self.say(request, said)))
            self.assertFalse(let_in)
            self.assertIn("TokenReview failed", logged)


if __name__ == "__main__":
    unittest.main()
