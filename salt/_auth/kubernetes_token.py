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

import json
import logging
import ssl
import urllib.request

log = logging.getLogger(__name__)

#: While it waits, a worker of the master does nothing else. In s.
TIMEOUT = 5


def auth(username, password):
    """Whether the token is that of this account, and the account has rights here. Whatever fails is no."""
    if username not in __opts__.get("external_auth", {}).get("kubernetes_token", {}):
        log.warning("kubernetes_token: %r is not in external_auth", username)
        return False
    config = __opts__.get("kubernetes_token", {})
    try:
        status = review(config, password)
    except (KeyError, OSError, ValueError) as error:
        log.error("kubernetes_token: no TokenReview: %s", error)
        return False
    return is_of(status, username, config.get("audience"))


def review(config, token):
    """The status of a TokenReview. The files are read each time: they are replaced."""
    with open(config["token_file"], encoding="utf-8") as file:
        own = file.read().strip()
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
    with urllib.request.urlopen(request, timeout=TIMEOUT, context=context) as answer:
        return json.load(answer).get("status", {})


def is_of(status, username, audience):
    """Whether a status says that the token is valid, for that audience, and of that user."""
    if status.get("authenticated") is not True:
        return False
    # An API server that knows nothing of audiences names none: the token is for whoever takes it then.
    if audience and audience not in status.get("audiences", []):
        return False
    return status.get("user", {}).get("username") == username
