"""
Salt login with the token of a Kubernetes ServiceAccount. The API server verifies it (TokenReview).

The configuration of the master has the API server and the accounts that may log in:

.. code-block:: yaml

    kubernetes_token:
      url: https://10.0.0.1:6443
      ca_file: /etc/salt/kubernetes/ca.crt
      token_file: /etc/salt/kubernetes/token   # of an account that may create TokenReviews
      audience: salt-api                       # audience of the tokens; default: the API server's
    external_auth:
      kubernetes_token:
        system:serviceaccount:stowage:stowage:
          - "@stowage"

The user name is that of the account, the password is its token.
"""

import http.client
import json
import logging
import re
import ssl
import threading
import urllib.request

log = logging.getLogger(__name__)

#: Maximum time (s) of a review, in which a worker of the master does nothing else.
TIMEOUT = 5

#: Maximum bytes of an answer, more than any TokenReview has.
LONGEST = 1 << 20


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Rejects redirects, so that tokens are sent to the API server only."""

    def redirect_request(self, *_):
        """Returns None, which makes urllib report the redirect as an error."""


def auth(username, password):
    """
    Returns whether the account is in external_auth and the token is its own. Returns False if the
    review fails.
    """
    if not isinstance(username, str) or username not in __opts__.get("external_auth", {}).get("kubernetes_token", {}):
        log.warning("kubernetes_token: %r is not in external_auth", username)
        return False
    config = __opts__.get("kubernetes_token", {})
    try:
        status = within(TIMEOUT, lambda: review(config, password))
    except (KeyError, OSError, TypeError, ValueError, http.client.HTTPException) as error:
        log.error("kubernetes_token: TokenReview failed: %s", error)
        return False
    return is_of(status, username, config.get("audience"))


def within(seconds, work):
    """
    Returns the result of `work`, or raises its exception. Raises TimeoutError after `seconds`: a
    socket's timeout restarts with each byte.
    """
    found = {}

    def run():
        try:
            found["answer"] = work()
        except Exception as error:  # pylint: disable=broad-except
            found["error"] = error

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if "error" in found:
        raise found["error"]
    if "answer" not in found:
        raise TimeoutError(f"no answer within {seconds} s")
    return found["answer"]


def own_token(path):
    """
    Returns the token in a file. Raises ValueError for content that cannot be a token: http.client
    would reject it with an error that quotes it.
    """
    with open(path, "rb") as file:
        token = file.read(LONGEST).strip()
    if not re.fullmatch(rb"[A-Za-z0-9._~+/=-]+", token):
        raise ValueError(f"{path} contains no token")
    return token.decode()


def review(config, token):
    """Returns the status of a TokenReview. Reads the files each time, since they are replaced."""
    own = own_token(config["token_file"])
    spec = {"token": token}
    if config.get("audience"):
        spec["audiences"] = [config["audience"]]
    request = urllib.request.Request(
        f"{config['url'].rstrip('/')}/apis/authentication.k8s.io/v1/tokenreviews",
        data=json.dumps(
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": spec}
        ).encode(),
        headers={"Authorization": f"Bearer {own}", "Content-Type": "application/json"},
    )
    if request.type != "https":
        raise ValueError("url must begin with https://: tokens are sent there")
    context = ssl.create_default_context(cafile=config.get("ca_file"))
    # As kubectl, trusts an intermediate CA without its root. Python 3.13 does by default; before
    # 3.10 it has no name for the flag.
    context.verify_flags |= getattr(ssl, "VERIFY_X509_PARTIAL_CHAIN", 0x80000)
    opener = urllib.request.build_opener(NoRedirect, urllib.request.HTTPSHandler(context=context))
    with opener.open(request, timeout=TIMEOUT) as answer:
        text = answer.read(LONGEST + 1)
    if len(text) > LONGEST:
        raise ValueError(f"the response is longer than {LONGEST} bytes")
    status = json.loads(text)["status"]
    if not isinstance(status, dict):
        raise ValueError("the response has no status")
    return status


def is_of(status, username, audience):
    """Returns whether a status confirms the token as valid for that audience and of that user."""
    if status.get("authenticated") is not True:
        return False
    # An API server without support for audiences names none: its tokens are valid for any audience.
    if audience and audience not in (status.get("audiences") or []):
        return False
    return (status.get("user") or {}).get("username") == username
