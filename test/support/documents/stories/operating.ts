import { APPLY, applied, checksNode, named, type Story, shows } from '../story.ts';
import { emptyCluster, withNode, withVolume } from '../worlds.ts';

const TAINT = 'node.kubernetes.io/out-of-service=nodeshutdown:NoExecute';
const WATCH = { says: /"msg":"leading"/, goesOn: 'to the end' } as const;
/** Preconditions of a page, run before its own commands: a class, and a running daemon. */
const CLASS = 'stowage create storageclass local --static';
const READY = { [CLASS]: shows(/local created/), 'stowage watch': WATCH };
/** Tests with real LVM, in a VM. */
const LVM = 'test/cluster/vm/lvm.ts';
const LVM_TEST = 'test/cluster/vm/lvm.test.ts';
const DISK = '/dev/disk/by-id/wwn-0x5000c500a1b2c3d4';

export const OPERATING_STORIES: readonly Story[] = [
  {
    path: 'docs/first-volume.md',
    world: withNode,
    typed: {
      'stowage install --components crds': shows(/volumes/),
      'stowage check node n1': checksNode(),
      'stowage watch &': WATCH,
      'stowage create storageclass local --static': shows(/local created/),
      'stowage create volume first --node n1 --size 1Gi --storage-class local --wait':
        shows(/first ready/),
      'stowage why volume first': shows(/Volume first is Available: nothing holds it up/),
      [APPLY]: applied,
      "kubectl wait pvc/first --for=jsonpath='{.status.phase}'=Bound --timeout=60s":
        shows(/condition met/),
      'stowage get attachments': shows(/first +n1 +Attached +default\/first/),
      'kubectl delete pod/first pvc/first': shows(/"first" deleted[\s\S]*"first" deleted/),
      'stowage delete volume first --yes --wait': shows(/first deleted/),
      'stowage delete storageclass local': shows(/storageclass\.storage\.k8s\.io\/local deleted/),
    },
  },
  {
    path: 'docs/volumes.md',
    world: withNode,
    before: READY,
    typed: {
      'stowage create volume data1 --node n1 --size 64Mi --storage-class local --wait':
        shows(/data1 ready/),
      "stowage create volume logs --node 'n{1..3}' --size 64Mi --storage-class local": shows(
        /logs-n1 created[\s\S]*logs-n3 created/,
      ),
      'stowage create volume data2 --node n1 --size 64Mi --storage-class local --dry-run=plan':
        shows(/mkfs\.ext4/),
      'stowage get volumes -o wide': shows(/data1 .*Available/),
      'stowage describe volume data1': shows(/data1/),
      'stowage why volume data1': shows(/data1/),
      'stowage top volumes --sort-by use': shows(/data1 +n1 +64Mi +- .*[0-9][KM]i/),
      'stowage top nodes': shows(/n1 +\/var\/lib\/metalk8s\/storage\/sparse .*Mi/),
      'kubectl patch volume data1 --type merge -p \'{"spec":{"onDelete":"Wipe"}}\'':
        shows(/data1 patched/),
      'stowage resize volume data1 80Mi --dry-run=plan': shows(/'truncate' '-s' '83886080'/),
      'stowage resize volume data1 96Mi --wait': shows(
        /data1 resized/,
        "stowage resize volume data1 96Mi --wait && kubectl wait volume/data1 --for=jsonpath='{.status.capacity}'=96Mi --timeout=30s",
      ),
      'stowage delete volume data1 --yes --wait': shows(/data1 deleted/),
      'kubectl delete volume NAME': shows(
        /deleted/,
        'kubectl delete volume logs-n1 logs-n2 logs-n3',
      ),
      'stowage create -f FILE': shows(
        /storageclass.*created/,
        'stowage create storageclass other --static --dry-run=client -o yaml > $FOLDER/class.yaml && stowage create -f $FOLDER/class.yaml',
      ),
      'stowage diff -f FILE': {
        ...shows(
          /\+.*name: new/,
          'stowage create storageclass new --static --dry-run=client -o yaml > $FOLDER/new.yaml && stowage diff -f $FOLDER/new.yaml',
        ),
        exit: 1,
      },
      'kubectl apply': named('kubectl apply'),
    },
  },
  {
    path: 'docs/files.md',
    world: emptyCluster,
    typed: { [APPLY]: applied },
  },
  {
    path: 'docs/files.md',
    world: withNode,
    before: READY,
    typed: {
      'stowage create volume data1 --node n1 --size 64Mi --storage-class local --wait': shows(
        /data1 ready[\s\S]*data1 deleted/,
        'stowage create volume data1 --node n1 --size 64Mi --storage-class local --wait && stowage delete volume data1 --yes --wait',
      ),
      'stowage create volume data2 --node n1 --size 64Mi --directory /data/volumes --require-mount --storage-class local':
        shows(/data2 created/),
      'stowage top nodes': named('stowage top nodes'),
      'stowage why': named('stowage why'),
      'stowage check node': { ...checksNode(), as: ['stowage check node n1'] },
      'rm /var/lib/stowage/directories/HASH': {
        runBy: 'test/integration/directory.test.ts',
        has: 'remove the record on the node: (rm .*)',
      },
    },
  },
  {
    path: 'docs/disks.md',
    world: emptyCluster,
    typed: {
      [APPLY]: applied,
      [`stowage create volume disk1 --node n1 --device ${DISK} --storage-class local`]:
        shows(/disk1 created/),
      "stowage create volume disk1 --node n1 --device /dev/sdb --storage-class local --overwrite 'ext4:6b1d5c1e-6c1f-4d0e-9d1a-1f2f7f4a9b11' --yes":
        shows(
          /disk3 created/,
          "stowage create volume disk3 --node n1 --device /dev/sdb --storage-class local --overwrite 'ext4:6b1d5c1e-6c1f-4d0e-9d1a-1f2f7f4a9b11' --yes",
        ),
      "stowage create volume disk1 --node n1 --device /dev/sdb --storage-class local --overwrite 'unknown data' --yes":
        shows(
          /disk4 created/,
          "stowage create volume disk4 --node n1 --device /dev/sdb --storage-class local --overwrite 'unknown data' --yes",
        ),
    },
  },
  {
    path: 'docs/disks.md',
    world: withNode,
    before: { [CLASS]: shows(/local created/) },
    typed: {
      // This machine has no such disk.
      [`stowage create volume disk1 --node n1 --device ${DISK} --storage-class local --dry-run=plan`]:
        {
          says: /there is no device .*wwn/,
          exit: 5,
        },
      'stowage check node': { ...checksNode(), as: ['stowage check node n1'] },
    },
  },
  {
    path: 'docs/logical-volumes.md',
    world: emptyCluster,
    typed: {
      'stowage create volume db1 --node n1 --vg vg0 --size 10Gi --storage-class local':
        shows(/db1 created/),
      'stowage create volume db2 --node n1 --vg vg0 --thin-pool pool --size 10Gi --storage-class local':
        shows(/db2 created/),
      [APPLY]: applied,
      "stowage create volume db4 --node n1 --vg vg0 --size 10Gi --storage-class local --overwrite 'free extents' --yes":
        shows(/db4 created/),
      'stowage create storageclass thick --dynamic --vg vg0 --overwrite-free-extents':
        shows(/thick created/),
      'stowage why pvc': { says: /required|missing|usage/i, exit: 2 },
      'pvcreate /dev/sdb': { runBy: LVM_TEST, has: "['pvcreate'" },
      'vgcreate vg0 /dev/sdb': { runBy: LVM, has: 'vgcreate' },
      'lvcreate --type thin-pool -L 100G -n pool vg0': { runBy: LVM, has: 'thin-pool' },
    },
  },
  {
    path: 'docs/classes.md',
    world: emptyCluster,
    typed: {
      'stowage create storageclass local --static --fs-type ext4 --mount-options noatime':
        shows(/local created/),
      'stowage create storageclass fast --dynamic --directory /srv/volumes --fs-type xfs --default':
        shows(/fast created/),
      'stowage create storageclass data --dynamic --directory /data/volumes --require-mount':
        shows(/data created/),
      'stowage create storageclass thin --dynamic --vg vg0 --thin-pool pool --reclaim-policy Retain':
        shows(/thin created/),
      'stowage create storageclass blocks --dynamic --vg vg0 --on-delete Wipe':
        shows(/blocks created/),
      'stowage create storageclass thick --dynamic --vg vg0 --overwrite-free-extents':
        shows(/thick created/),
      [APPLY]: applied,
      'stowage describe storageclass fast': shows(/Usable: +yes[\s\S]*Directory: +\/srv\/volumes/),
      'stowage delete storageclass blocks': shows(/blocks deleted/),
      'stowage delete storageclass -l team=db': shows(/No storage classes of Volumes found/),
      'stowage why pvc NAME': shows(
        /first pod|no pod|consumer/,
        `kubectl create -f - <<< '{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"a"},"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"fast","resources":{"requests":{"storage":"1Gi"}}}}' && stowage why pvc a`,
      ),
      'stowage check cluster': { says: /./, exit: 5 },
    },
  },
  {
    path: 'docs/lost-nodes.md',
    world: withVolume,
    typed: {
      'kubectl get node n1': shows(/n1/),
      'stowage check node n1': { says: /n1/, exit: 1 },
      'stowage detach volume data1 --node n1 --force': { says: /n1 is Ready/, exit: 5 },
      [`kubectl taint node n1 ${TAINT}`]: shows(/n1 tainted/),
      'kubectl taint node n1 node.kubernetes.io/out-of-service-': shows(/n1 untainted/),
      // There is no such machine: the VM test moves a disk to another VM.
      [`stowage adopt volume d1-moved --node n2 --device ${DISK} --storage-class local --dry-run=plan`]:
        {
          says: /node n2/,
          exit: 1,
        },
      [`stowage adopt volume d1-moved --node n2 --device ${DISK} --storage-class local --wait`]: {
        says: /node n2/,
        exit: 1,
      },
      [APPLY]: applied,
      'stowage delete volume data1 --forget-node --yes': shows(
        /data1/,
        'kubectl delete node n1 && stowage delete volume data1 --forget-node --yes',
      ),
      'kubectl get leftovers': shows(/7f8f7c35-5bb2-4f6a-9b53-0d51a0c9a102/),
      'kubectl delete leftover UID': shows(
        /deleted/,
        'kubectl delete leftover 7f8f7c35-5bb2-4f6a-9b53-0d51a0c9a102',
      ),
      'stowage delete volume NAME': {
        ...shows(/not found/, 'stowage delete volume gone'),
        exit: 3,
      },
    },
  },
  {
    path: 'docs/alerts.md',
    world: withVolume,
    typed: {
      'promtool check rules deploy/alerts.yaml': shows(/SUCCESS/),
      'kubectl -n stowage get pods': shows(/No resources found/),
      'kubectl -n stowage describe pods': shows(/No resources found/),
      'stowage check cluster': { says: /./, exit: 5 },
      'stowage install --components rbac': shows(/clusterrole/),
      'stowage get nodes': shows(/n1/, 'stowage get nodes --timeout 1s'),
      'stowage get volumes': shows(/data1/),
      'stowage get populators': shows(/^/),
      'stowage get snapshots -A': shows(/^/),
      'stowage get attachments -o wide': shows(/data1 +n1 +Attached/),
      'stowage describe volume NAME': shows(/data1/, 'stowage describe volume data1'),
      'stowage check node NAME': { ...shows(/n1/, 'stowage check node n1'), exit: 1 },
      'stowage why KIND NAME': shows(/data1/, 'stowage why volume data1'),
      'stowage why volume NAME': shows(/data1/, 'stowage why volume data1'),
      'stowage why pod NAMESPACE/NAME': {
        ...shows(/not found/, 'stowage why pod db/db-0'),
        exit: 3,
      },
      'stowage why pvc NAMESPACE/NAME': {
        ...shows(/not found/, 'stowage why pvc db/db-0'),
        exit: 3,
      },
      'stowage why snapshot NAMESPACE/NAME': {
        ...shows(/not found/, 'stowage why snapshot db/s'),
        exit: 3,
      },
      'lvextend vg0/pool': { runBy: LVM_TEST, has: "['lvextend'" },
    },
  },
];
