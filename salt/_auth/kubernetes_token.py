"""
Salt logins with the token of a Kubernetes ServiceAccount: the API server says whose token it is (TokenReview).

The master's configuration says where the API server is, and which accounts there are:

.. code-block:: yaml

    kubernetes_token:
      url: https://10.0.0.1:6443
      ca_file: /etc/salt/kubernetes/ca.crt
      token_file: /etc/salt/kubernetes/token   # of an account that may create tokenreviews
      audience: salt-api                       # which tokens must be made for; default: the API server's own
    external_auth:
      kubernetes_token:
        system:serviceaccount:stowage-system:stowage:
          - "@stowage"

The user name is the account's, the password its token.
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
    """An API server sends nobody elsewhere, and tokens go nowhere else."""

    def redirect_request(self, *_):
        """None has the redirection reported as an error."""


def auth(username, password):
    """Whether the token is that of this account, and the account has rights here. Whatever fails is no."""
    if not isinstance(username, str) or username not in __opts__.get("external_auth", {}).get("kubernetes_token", {}):
        log.warning("kubernetes_token: %r is not in external_auth", username)
        return False
    config = __opts__.get("kubernetes_token", {})
    try:
        status = within(TIMEOUT, lambda: review(config, password))
    except (KeyError, OSError, TypeError, ValueError, http.client.HTTPException) as error:
        log.error("kubernetes_token: no TokenReview: %s", error)
        return False
    return is_of(status, username, config.get("audience"))


def within(seconds, work):
    """What `work` answers or raises, if it does so in time. The timeouts of sockets begin anew with each byte."""
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
    """What a file holds, if it can be a token: what refuses to send another one would tell what it is."""
    with open(path, "rb") as file:
        token = file.read(LONGEST).strip()
    if not re.fullmatch(rb"[A-Za-z0-9._~+/=-]+", token):
        raise ValueError(f"{path} holds no token")
    return token.decode()


def review(config, token):
    """The status of a TokenReview. The files are read each time: they are replaced."""
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
    opener = urllib.request.build_opener(NoRedirect, urllib.request.HTTPSHandler(context=context))
    with opener.open(request, timeout=TIMEOUT) as answer:
        text = answer.read(LONGEST + 1)
    if len(text) > LONGEST:
        raise ValueError("the answer is longer than any TokenReview")
    status = json.loads(text)["status"]
    if not isinstance(status, dict):
        raise ValueError("the answer has no status")
    return status


def is_of(status, username, audience):
    """Whether a status says that the token is valid, for that audience, and of that user."""
    if status.get("authenticated") is not True:
        return False
    # An API server without support for audiences names none: its tokens are valid for any audience.
    if audience and audience not in (status.get("audiences") or []):
        return False
    return (status.get("user") or {}).get("username") == username
