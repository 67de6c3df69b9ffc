import { checksNode, named, type Story, script, shows, watches } from '../story.ts';
import { withNode, withSnapshot, withVolume } from '../worlds.ts';

const path = 'README.md';

export const README_STORIES: readonly Story[] = [
  {
    path,
    world: withNode,
    typed: {
      'ssh n1 true': shows(/^/, 'ssh -F $STOWAGE_SSH_CONFIG n1 true'),
      'stowage install --components crds': shows(/volumes/),
      'stowage check node n1': checksNode(),
      'stowage watch &': { says: /"msg":"leading"/, goesOn: 'to the end' },
      'stowage create storageclass local --static --fs-type ext4 --mount-options noatime':
        shows(/local created/),
      'stowage create volume data1 --node n1 --size 10Gi --storage-class local --wait':
        shows(/data1 ready/),
      'stowage get volumes': shows(/data1 .*Available/),
      'block apiVersion: v1': { input: 'cat >$FOLDER/claim.yaml && echo saved', says: /saved/ },
      'kubectl apply -f claim.yaml': shows(
        /condition met/,
        'kubectl apply -f $FOLDER/claim.yaml && kubectl wait pod/shell --for=condition=Ready --timeout=60s',
      ),
      'kubectl get pod shell -o wide': shows(/shell +1\/1 +Running/),
      // The cluster runs no containers: the path must be the one that the pod writes.
      'kubectl exec shell -- cat /data/hello': shows(
        /date >> \/data\/hello;/,
        "kubectl get pod shell -o jsonpath='{.spec.containers[0].command[2]}'",
      ),
      'stowage get attachments': shows(/data1 +n1 +Attached +default\/shell/),
      'stowage why pod default/shell': shows(/nothing holds/),
      'kubectl delete pod/shell pvc/data': shows(/"shell" deleted[\s\S]*"data" deleted/),
      'stowage create volume data2 --node n1 --size 10Gi --storage-class local --dry-run=plan':
        shows(/mkfs\.ext4/),
      'stowage create volume disk1 --node n1 --device /dev/disk/by-id/wwn-0x5000c500a1b2c3d4 --storage-class local --dry-run=plan':
        { says: /wwn-0x5000c500a1b2c3d4/, exit: 5 },
      'stowage delete volume data1 --yes --wait': shows(/data1 deleted/),
      'stowage delete storageclass local': shows(/local deleted/),
    },
  },
  {
    path,
    world: withVolume,
    typed: {
      'block apiVersion: storage.metalk8s.scality.com/v1alpha1': {
        input: 'kubectl apply -f -',
        says: /data1 configured|immutable/,
        exit: [0, 1],
      },
      'stowage create volume db1 --node n1 --vg vg0 --size 10Gi --storage-class local':
        shows(/db1 created/),
      'stowage why': { says: /usage|missing|required/i, exit: 2, as: ['stowage why'] },
      'stowage why --all': { says: /data1/, exit: 5 },
      'stowage pause node n1': shows(/node\/n1 paused/),
      'kubectl apply': named('kubectl apply'),
      'kubectl stowage …': shows(/data1/, 'kubectl stowage get volumes'),
      'stowage create -f': named('stowage create', /-f <file>/),
      'stowage watch': watches,
      'stowage install': shows(/stowage/, 'stowage install --dry-run=server'),
      'stowage uninstall': named('stowage uninstall', /--yes/),
      'stowage register populator': named('stowage register populator', /--mount-path/),
      'stowage adopt volume data1 --node n2 --device /dev/disk/by-id/wwn-0x5000c500a1b2c3d4 --storage-class local':
        named('stowage adopt volume', /--device/),
      'npm run demo': script('demo'),
      'npm test': script('test'),
    },
  },
  {
    path,
    world: withSnapshot,
    typed: {
      'stowage create storageclass fast --dynamic --directory /data/volumes --require-mount --fs-type xfs':
        shows(/fast created/),
      'stowage create backup prod/monday --pvc foo --to https://backups.example.com/monday.tar.zst':
        shows(/monday created/),
      'stowage grant snapshot prod/foo-backup --to test': shows(/created/),
      // Waiting requires a daemon and the node.
      'stowage create snapshot prod/foo-backup --pvc foo --wait': {
        runBy: 'test/integration/claims-story.test.ts',
        has: "'create', 'snapshot', 'foo-backup', '--pvc', 'foo', '-n', 'prod', '--wait'",
      },
      'stowage restore snapshot prod/foo-backup --to test/foo-testing':
        shows(/foo-testing created/),
    },
  },
];
