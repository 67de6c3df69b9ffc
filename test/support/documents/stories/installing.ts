import { VERSION } from '../../../../src/api/version.ts';
import { APPLY, applied, type Elsewhere, named, type Story, shows } from '../story.ts';
import { emptyCluster } from '../worlds.ts';

const path = 'docs/installing.md';
/**
 * These tests take the commands of a section from the page itself, and run them in a Debian without
 * Stowage.
 */
const from = (name: string, heading: string): Elsewhere => ({
  runBy: `test/cluster/install/${name}.ts`,
  has: `commands('${heading}')`,
});
const PACKAGE = from('npm.test', 'The command');
const CLAIM = from('scene', 'A first claim');
const MACHINE = from('systemd.test', 'The daemon on a machine');
const IMAGE = from('image.test', 'The daemon in the cluster');
const REMOVING = from('npm.test', 'Removing it');
const inMachine = (has: string): Elsewhere => ({
  runBy: 'test/cluster/install/systemd.test.ts',
  has,
});
const TAKE_OVER = {
  runBy: 'test/thorough/metalk8s.test.ts',
  has: "stowage('install', '--take-over-metalk8s'",
};

export const INSTALLING_STORIES: readonly Story[] = [
  {
    path,
    world: emptyCluster,
    typed: {
      'stowage install --feature-gates CrossNamespaceVolumeDataSource=true --replicas 2': shows(
        /deployment\.apps\/stowage in namespace stowage created/,
      ),
      'block # values.yaml': { input: 'cat >$FOLDER/values.yaml && echo saved', says: /saved/ },
      'stowage install --values values.yaml': shows(
        /deployment\.apps\/stowage in namespace stowage changed/,
        'stowage install --values $FOLDER/values.yaml',
      ),
    },
  },
  {
    path,
    world: emptyCluster,
    typed: {
      'npm pack': { runBy: 'test/integration/package.test.ts', has: "'pack'," },
      [`npm install --global --prefix /usr/local ./stowage-${VERSION}.tgz`]: PACKAGE,
      'stowage --version': PACKAGE,
      'stowage install --components crds': PACKAGE,
      'stowage check node n1': PACKAGE,
      'stowage watch': PACKAGE,
      'stowage create storageclass fast --dynamic --directory /srv/volumes': CLAIM,
      [APPLY]: { runBy: 'test/cluster/install/scene.ts', has: "blocks('A first claim', 'yaml')" },
      'kubectl wait --for=jsonpath={.status.phase}=Bound pvc/first --timeout=60s': CLAIM,
      'stowage get volumes': CLAIM,
      'useradd --system --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin stowage':
        MACHINE,
      'install -d -m 0750 -g stowage /etc/stowage /etc/stowage/ssh': MACHINE,
      'install -m 0640 -g stowage ~/.kube/config /etc/stowage/kubeconfig': MACHINE,
      "ssh-keygen -q -t ed25519 -N '' -C stowage -f /etc/stowage/ssh/key": MACHINE,
      'stowage check node n1 --ssh-config /etc/stowage/ssh/config --trust-host-key SHA256:…':
        MACHINE,
      'chgrp -R stowage /etc/stowage': MACHINE,
      'chmod -R u=rwX,g=rX,o= /etc/stowage': MACHINE,
      'install -m 0644 /usr/local/lib/node_modules/stowage/deploy/stowage.service /etc/systemd/system/stowage.service':
        MACHINE,
      'systemctl daemon-reload': MACHINE,
      'systemctl enable --now stowage': MACHINE,
      'systemctl status stowage': MACHINE,
      [`podman build --tag docker.io/library/stowage:${VERSION} --file deploy/Containerfile .`]: {
        runBy: 'test/cluster/install/image.test.ts',
        has: '`podman build --tag',
      },
      'kubectl apply -f deploy/volume-crd.yaml -f deploy/leftover-crd.yaml -f deploy/populator-definition-crd.yaml':
        applied,
      'kubectl create namespace stowage': IMAGE,
      'kubectl -n stowage create secret generic stowage-ssh --from-file=config --from-file=key --from-file=known_hosts':
        IMAGE,
      'stowage install': IMAGE,
      'kubectl -n stowage rollout status deployment stowage': IMAGE,
      'stowage install --take-over-metalk8s --dry-run=client': TAKE_OVER,
      'stowage install --take-over-metalk8s': TAKE_OVER,
      'stowage uninstall --yes --components rbac,deployment': REMOVING,
      'npm uninstall --global --prefix /usr/local stowage': REMOVING,
      'stowage check node': named('stowage check node'),
      'npm install --global --prefix /usr/local node@24': {
        runBy: 'test/cluster/install/root.ts',
        has: 'node@',
      },
      'kubectl stowage': {
        runBy: 'test/cluster/install/npm.test.ts',
        has: 'kubectl stowage get volumes',
      },
      'stowage completion bash': shows(/complete/),
      'stowage why pvc first': named('stowage why'),
      'stowage install --components rbac': shows(/clusterrole/),
      'ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub': inMachine('ssh-keygen -lf'),
      'sudo -u stowage stowage check node n1 --kubeconfig /etc/stowage/kubeconfig --ssh-config /etc/stowage/ssh/config':
        inMachine('check node n1 --kubeconfig /etc/stowage/kubeconfig'),
      'systemctl reload stowage': inMachine('systemctl reload stowage'),
      'stowage version': shows(/Client/),
      'stowage uninstall --components rbac,deployment': { ...shows(/^/), exit: 2 },
      'stowage uninstall': { ...shows(/^/), exit: 2 },
      'systemctl disable --now stowage': inMachine('systemctl disable --now stowage'),
    },
  },
];
