import { APPLY, applied, type Story, shows, watches } from '../story.ts';
import { emptyCluster, withVolume } from '../worlds.ts';

const TAINT = 'node.kubernetes.io/out-of-service=nodeshutdown:NoExecute';
/** Creates a deleted Node again. */
const NODE = `kubectl create -f - <<< '{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"spec":{"taints":[{"key":"node.kubernetes.io/out-of-service","value":"nodeshutdown","effect":"NoExecute"}]}}'`;
/** Test in the cluster suite, with real Salt. */
const SALT = 'test/cluster/salt/check-node.test.ts';

export const NODE_STORIES: readonly Story[] = [
  { path: 'docs/attachments.md', world: emptyCluster, typed: { [APPLY]: applied } },
  { path: 'docs/shared-directories.md', world: emptyCluster, typed: { [APPLY]: applied } },
  {
    path: 'docs/attachments.md',
    world: withVolume,
    typed: {
      "kubectl get volume data1 -o jsonpath='{.status.attachments}'": shows(/"state":"Attached"/),
      'stowage get attachments -o wide': shows(/data1 +n1 +Attached +db\/db-0/),
      'stowage get attachments [VOLUME...] [--node N] [-l SELECTOR] [-w]': shows(
        /data1 +n1/,
        'stowage get attachments data1 --node n1',
      ),
      'stowage detach volume NAME --node N': {
        ...shows(/needs? it there|db\/db-0/, 'stowage detach volume data1 --node n1'),
        exit: 5,
      },
      'stowage detach volume NAME --node N --force': {
        ...shows(/n1 is Ready/, 'stowage detach volume data1 --node n1 --force'),
        exit: 5,
      },
      'stowage watch': watches,
    },
  },
  {
    path: 'docs/shared-directories.md',
    world: withVolume,
    typed: {
      [`kubectl taint nodes n1 ${TAINT}`]: shows(/n1 tainted/),
      [NODE]: shows(/n1 created/, `kubectl delete node n1 && ${NODE}`),
      'losetup -a': shows(/^/),
    },
  },
  {
    path: 'docs/ssh-guard.md',
    world: emptyCluster,
    typed: {
      'stowage watch --ssh-guard': watches,
      'stowage check node': {
        ...shows(/n1.*reach/s, 'stowage check node n1 --ssh-guard'),
        exit: 1,
      },
    },
  },
  {
    path: 'docs/salt.md',
    world: emptyCluster,
    typed: {
      'stowage watch --transport salt --salt-url https://salt.example:8000 --salt-ca-file /etc/stowage/salt-ca.pem --salt-eauth sharedsecret --salt-user stowage --salt-secret-file /etc/stowage/salt-secret':
        {
          ...watches,
          as: [
            'env $(cp /etc/ssl/certs/ca-certificates.crt $FOLDER/ca.pem; umask 77; echo x > $FOLDER/secret) stowage watch --transport salt --salt-url https://salt.example:8000 --salt-ca-file $FOLDER/ca.pem --salt-eauth sharedsecret --salt-user stowage --salt-secret-file $FOLDER/secret',
          ],
        },
      'salt n1 state.apply stowage': { runBy: SALT, has: "'state.apply'" },
      'salt n1 saltutil.sync_modules': { runBy: SALT, has: "'n1', 'saltutil.sync_modules'" },
      "salt '*' saltutil.sync_modules": {
        runBy: 'test/cluster/salt/salt.ts',
        has: "'*', 'saltutil.sync_modules'",
      },
      'block stowage:': { runBy: SALT, has: 'pillar=' },
      'stowage install --transport salt --salt-url https://salt.example:8000 --salt-audience salt-api --salt-ca-configmap salt-ca':
        shows(/deployment\.apps\/stowage in namespace stowage created[\s\S]*the ConfigMap salt-ca/),
      'kubectl -n stowage create secret generic stowage-salt --from-file=secret': shows(
        /created/,
        'kubectl -n stowage create secret generic stowage-salt --from-file=secret=$FOLDER/secret',
      ),
      'stowage install --transport salt --salt-url https://salt.example:8000 --salt-secret stowage-salt':
        shows(/deployment\.apps\/stowage in namespace stowage changed/),
      'stowage check node N': { ...shows(/n1/, 'stowage check node n1'), exit: 1 },
      'kubectl create clusterrolebinding salt-reviews --clusterrole=system:auth-delegator --serviceaccount=NAMESPACE:NAME':
        shows(
          /salt-reviews created/,
          'kubectl create clusterrolebinding salt-reviews --clusterrole=system:auth-delegator --serviceaccount=stowage:stowage',
        ),
    },
  },
];
