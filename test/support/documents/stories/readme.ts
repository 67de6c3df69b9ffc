import { APPLY, applied, checksNode, named, type Story, script, shows, watches } from '../story.ts';
import { withNode, withSnapshot, withVolume } from '../worlds.ts';

const path = 'README.md';
const CRDS =
  'kubectl apply -f deploy/volume-crd.yaml -f deploy/leftover-crd.yaml -f deploy/populator-definition-crd.yaml';
const SECRET =
  'kubectl -n stowage create secret generic stowage-ssh --from-file=config --from-file=key --from-file=known_hosts';
const CLASS = `stowage create storageclass local --static --fs-type ext4 --mkfs-options '["-m", "0"]' --mount-options noatime`;
/** Fingerprint of a host key, as ssh-keygen prints it; no host has it. */
const FINGERPRINT = `SHA256:${'A'.repeat(43)}`;

export const README_STORIES: readonly Story[] = [
  {
    path,
    world: withNode,
    typed: {
      'stowage install --components crds': shows(/volumes/),
      [CLASS]: shows(/local created/),
      'ssh NODE true': shows(/^/, 'ssh -F $STOWAGE_SSH_CONFIG n1 true'),
      'stowage watch &': { says: /"msg":"leading"/, goesOn: 'to the end' },
      'stowage create volume data1 --node n1 --size 10Gi --storage-class local --wait':
        shows(/data1 created/),
      'stowage get volumes -w': {
        says: /data1 .*Available/,
        goesOn: 'until it says so',
        exit: 143,
      },
      'stowage describe volume data1': shows(/data1[\s\S]*Available/),
      'stowage why volume data1': shows(/Nothing|nothing/),
      'stowage get attachments': shows(/data1 +n1 +Attached/),
      'stowage detach volume data1 --node n1': { says: /Always/, exit: 5 },
      'stowage check node n1': checksNode(),
      'stowage get nodes': shows(/n1 .*/),
      'kubectl get lease stowage': shows(/stowage/),
      'stowage delete volume data1 --wait': shows(/data1 deleted/),
    },
  },
  {
    path,
    world: withVolume,
    typed: {
      [CRDS]: applied,
      [APPLY]: { ...applied, says: /data1 configured|data1 created|immutable/ },
      'stowage why': { says: /usage|missing|needed/i, exit: 2, as: ['stowage why'] },
      'stowage why pod db/db-0': { says: /not found/, exit: 3 },
      'stowage check cluster': { says: /daemon/, exit: 5 },
      'stowage version': shows(/Client|client|stowage/),
      'stowage check node n1 --trust-host-key SHA256:…': {
        says: /n1/,
        exit: 1,
        as: [`stowage check node n1 --trust-host-key ${FINGERPRINT}`],
      },
      'ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub': shows(
        /SHA256:/,
        'ssh-keygen -q -t ed25519 -N "" -f $FOLDER/key && ssh-keygen -lf $FOLDER/key.pub',
      ),
      'kubectl annotate node n1 stowage.dev/paused=true': shows(/n1 annotated/),
      'stowage delete volume data1 --forget-node': { says: /n1 is Ready|--yes/, exit: 5 },
      'kubectl get leftovers': shows(/No resources found/),
      'kubectl delete leftover UID': {
        ...shows(/not found/, 'kubectl delete leftover 7f8f7c35-5bb2-4f6a-9b53-0d51a0c9a102'),
        exit: 1,
      },
      'stowage diff -f FILE': shows(
        /^/,
        'kubectl get volume data1 -o yaml > $FOLDER/data1.yaml && stowage diff -f $FOLDER/data1.yaml',
      ),
      'kubectl apply': named('kubectl apply'),
      'kubectl diff': named('kubectl diff'),
      'kubectl explain': named('kubectl explain'),
      'kubectl stowage …': shows(/data1/, 'kubectl stowage get volumes'),
      'stowage sandbox --kubeconfig-out FILE': {
        says: /API server at https/,
        goesOn: 'until it says so',
        as: ['stowage sandbox --kubeconfig-out $FOLDER/sandbox'],
      },
      'stowage watch': watches,
      'block transport: ssh': {
        says: /n1/,
        input:
          'cat > $FOLDER/config.yaml && stowage get nodes --timeout 1s --config $FOLDER/config.yaml',
      },
      'stowage install': shows(/stowage/, 'stowage install --dry-run=server'),
      [SECRET]: shows(
        /stowage-ssh created/,
        `cd $FOLDER && touch config known_hosts && (kubectl create namespace stowage; ${SECRET})`,
      ),
      // A Volume exists.
      'stowage uninstall': { ...shows(/Volume/, 'stowage uninstall --dry-run=client'), exit: 5 },
      'stowage print sudoers': shows(/User_Alias/),
      'stowage register populator': named('stowage register populator', /--mount-path/),
      'stowage create backup': named('stowage create backup', /--to/),
      'stowage install --take-over-metalk8s': {
        runBy: 'test/thorough/metalk8s.test.ts',
        has: "'install', '--take-over-metalk8s'",
      },
      'stowage completion bash': shows(/complete -F _stowage stowage/),
      'npm run demo': script('demo'),
      'npm test': script('test'),
      'npm run test:cluster': script('test:cluster'),
      'npm run test:smoke': script('test:smoke'),
      'npm run cluster -- up': script('cluster'),
      'npm run bench': script('bench'),
    },
  },
  {
    path,
    world: withSnapshot,
    typed: {
      'stowage create storageclass fast --dynamic --directory /data/volumes --fs-type xfs':
        shows(/fast created/),
      'stowage grant snapshot prod/foo-backup --to test': shows(/created/),
      'stowage get snapshots -A': shows(/prod +foo-backup/),
      'stowage get grants -n prod': shows(/test/),
      // Waiting requires a daemon and the node.
      'stowage create snapshot prod/foo-backup --pvc foo --wait': {
        runBy: 'test/integration/claims-story.test.ts',
        has: "'create', 'snapshot', 'foo-backup', '--pvc', 'foo', '-n', 'prod', '--wait'",
      },
      'stowage restore snapshot prod/foo-backup --to test/foo-testing --wait': {
        runBy: 'test/kep/cross-namespace.ts',
        has: "'restore', 'snapshot', 'prod/foo-backup', '--to', 'test/restored', '--wait'",
      },
    },
  },
];
