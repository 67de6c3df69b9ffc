"""Whose token it is, by what the API server answers."""

import importlib.util
import os
import unittest
from unittest import mock

PATH = os.path.join(os.path.dirname(__file__), "..", "..", "salt", "_auth", "kubernetes_token.py")
spec = importlib.util.spec_from_file_location("kubernetes_token", PATH)
kubernetes_token = importlib.util.module_from_spec(spec)
spec.loader.exec_module(kubernetes_token)

NAME = "system:serviceaccount:stowage-system:stowage"
GOOD = {"authenticated": True, "user": {"username": NAME}, "audiences": ["salt-api"]}


class Tokens(unittest.TestCase):
    def test_a_status(self):
        self.assertTrue(kubernetes_token.is_of(GOOD, NAME, "salt-api"))
        self.assertTrue(kubernetes_token.is_of(GOOD, NAME, None))
        for status in (
            {},
            {**GOOD, "authenticated": False},
            {**GOOD, "authenticated": "yes"},
            {**GOOD, "user": {"username": f"{NAME}2"}},
            {**GOOD, "user": {}},
            {**GOOD, "audiences": ["https://kubernetes.default.svc"]},
            {"authenticated": True, "user": {"username": NAME}},
        ):
            self.assertFalse(kubernetes_token.is_of(status, NAME, "salt-api"), status)

    def test_who_has_no_rights_is_not_asked_for(self):
        kubernetes_token.__opts__ = {"external_auth": {"kubernetes_token": {NAME: ["stowage.*"]}}}
        with mock.patch.object(kubernetes_token, "review", return_value=GOOD) as review:
            self.assertFalse(kubernetes_token.auth(f"{NAME}2", "token"))
            review.assert_not_called()
            self.assertTrue(kubernetes_token.auth(NAME, "token"))

    def test_an_api_server_that_does_not_answer_lets_nobody_in(self):
        kubernetes_token.__opts__ = {"external_auth": {"kubernetes_token": {NAME: ["stowage.*"]}}}
        for config in ({}, {"url": "http://127.0.0.1:1", "token_file": PATH}, {"url": "https://127.0.0.1:1", "token_file": PATH}):
            kubernetes_token.__opts__["kubernetes_token"] = config
            with self.assertLogs(kubernetes_token.log, "ERROR"):
                self.assertFalse(kubernetes_token.auth(NAME, "token"))


if __name__ == "__main__":
    unittest.main()
