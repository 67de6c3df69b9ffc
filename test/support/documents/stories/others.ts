import { checksNode, named, type Story, script, shows, watches } from '../story.ts';
import { emptyCluster, withNode, withVolume } from '../worlds.ts';

/** Fingerprint that no host key has. */
const FINGERPRINT = `SHA256:${'A'.repeat(43)}`;

export const OTHER_STORIES: readonly Story[] = [
  {
    path: 'docs/benchmarks.md',
    world: emptyCluster,
    typed: {
      'npm run bench': script('bench'),
      'npm run bench -- NAME': script('bench'),
      'npm run bench:cluster': script('bench:cluster'),
      'npm run bench:attach [-- --pods N --one N --nodes N --rounds N --throttled-rounds N --attachments N --rest SECONDS]':
        script('bench:attach'),
      'npm run bench:snapshots': script('bench:snapshots'),
      'npm run bench:populate': script('bench:populate'),
      'stowage --version': shows(/^\d+\./),
      'kubectl version --client': shows(/Client Version/),
      'stowage __complete': shows(/^/, "stowage __complete get ''"),
      'kubectl __complete': shows(/volumes/, "kubectl __complete stowage get ''"),
      'stowage get volumes': shows(/^/),
      'kubectl get volumes': shows(/No resources found/),
      'stowage sandbox': named('stowage sandbox', /--kubeconfig-out/),
      'stowage watch': watches,
    },
  },
  { path: 'docs/output.md', world: emptyCluster, typed: {} },
  {
    path: 'docs/metrics.md',
    world: emptyCluster,
    typed: {
      'stowage watch --http-endpoint :8080': {
        ...watches,
        as: ['stowage watch --http-endpoint 127.0.0.1:0'],
      },
      'stowage top volumes': named('stowage top volumes'),
    },
  },
  {
    path: 'docs/daemon.md',
    world: withVolume,
    typed: {
      'stowage watch': watches,
      'kubectl get lease stowage': shows(/stowage/),
      'stowage check cluster': { says: /daemon/, exit: 5 },
      'block transport: ssh': {
        says: /n1/,
        input:
          'cat > $FOLDER/config.yaml && stowage get nodes --timeout 1s --config $FOLDER/config.yaml',
      },
    },
  },
  {
    path: 'docs/reaching-nodes.md',
    world: withVolume,
    typed: {
      'stowage check node n1 --trust-host-key SHA256:…': {
        says: /n1/,
        exit: 1,
        as: [`stowage check node n1 --trust-host-key ${FINGERPRINT}`],
      },
      'ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub': shows(
        /SHA256:/,
        'ssh-keygen -q -t ed25519 -N "" -f $FOLDER/key && ssh-keygen -lf $FOLDER/key.pub',
      ),
      'stowage print sudoers': shows(/User_Alias/),
      'stowage check cluster': { says: /daemon/, exit: 5 },
    },
  },
  {
    path: 'docs/reaching-nodes.md',
    world: withNode,
    typed: {
      'ssh NODE true': shows(/^/, 'ssh -F $STOWAGE_SSH_CONFIG n1 true'),
      'stowage check node n1': checksNode(),
      'stowage get nodes': shows(/n1 .*/),
    },
  },
];
