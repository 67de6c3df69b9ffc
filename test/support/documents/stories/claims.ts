import { APPLY, applied, named, type Story, shows, watches } from '../story.ts';
import { emptyCluster, withSnapshot } from '../worlds.ts';

const REFERENCE = /"kind":"VolumeSnapshot","name":"foo-backup","namespace":"prod"/;

const REGISTER = `stowage register populator hello --group hello.example.com --kind Hello --image busybox:1.37 --command=sh --command=-c --command='printf "%s\\n" "$2" >"$1"' --command=hello --arg='/target/{.spec.fileName}' --arg='{.spec.fileContents}' --mount-path=/target`;

export const CLAIM_STORIES: readonly Story[] = [
  {
    path: 'docs/claims.md',
    world: emptyCluster,
    typed: {
      'stowage create storageclass fast --dynamic --directory /srv/volumes': shows(
        /storageclass.*fast created/,
      ),
      'stowage watch --feature-gates CrossNamespaceVolumeDataSource=true': watches,
    },
  },
  {
    path: 'docs/snapshots.md',
    world: withSnapshot,
    typed: {
      'stowage create snapshotclass fast --default': shows(/fast created/),
      // The manifest is of the same class.
      [APPLY]: applied,
      'stowage install --components snapshot-crds': shows(/volumesnapshots/),
      'stowage get snapshotclasses': shows(/fast \(default\) +volume\.stowage\.dev +Delete/),
      'stowage delete snapshotclass keep': shows(
        /keep deleted/,
        'stowage create snapshotclass keep && stowage delete snapshotclass keep',
      ),
      // The sandbox has no CronJobs: run the command of the container.
      'block # cronjob.yaml': {
        input: `sed -n "s/.*sh, -c, '\\(.*\\)'\\]$/\\1/p" | sh -ex`,
        says: /volumesnapshot.*\/db-\d{8}-\d{4} created/,
      },
      'stowage watch --snapshot-controller=auto|builtin|external': {
        ...watches,
        as: ['auto', 'builtin', 'external'].map(
          (who) => `stowage watch --snapshot-controller=${who}`,
        ),
      },
      'kubectl annotate volumesnapshotcontent NAME stowage.dev/forget-node=UID': shows(
        /from-before annotated/,
        'kubectl annotate volumesnapshotcontent from-before stowage.dev/forget-node=x',
      ),
    },
  },
  {
    path: 'docs/grants.md',
    world: withSnapshot,
    typed: {
      'stowage grant snapshot prod/foo-backup --to test': shows(/created/),
      "stowage grant snapshot 'prod/*' --to test": shows(/created/),
      'stowage get grants -n prod': shows(/test \(claims,links\) +foo-backup/),
      'stowage revoke grant prod/foo-backup-to-test-f5e3ad49': shows(/revoked/),
      [APPLY]: applied,
      'stowage grant snapshot': named('stowage grant snapshot', /--to/),
      'stowage revoke grant': named('stowage revoke grant', /--dry-run/),
      'stowage check grant --from test --snapshot prod/foo-backup': shows(
        /may use.*by ReferenceGrant prod\//,
      ),
      'stowage restore snapshot prod/foo-backup --to test/foo-testing':
        shows(/foo-testing created/),
      "kubectl get pvc foo-testing -o jsonpath='{.spec.dataSourceRef}'": shows(
        REFERENCE,
        "kubectl get pvc foo-testing -n test -o jsonpath='{.spec.dataSourceRef}'",
      ),
      'stowage why pvc test/foo-testing': shows(/test\/foo-testing/),
    },
  },
  {
    path: 'docs/populators.md',
    world: emptyCluster,
    typed: {
      'stowage install --components populator-crds': shows(/volumepopulators/),
      // The CRD comes first. The manifests also create the object that the command would create.
      [APPLY]: applied,
      'stowage unregister populator hello': shows(
        /hello/,
        'kubectl delete pvc greeting && stowage unregister populator hello',
      ),
      [REGISTER]: shows(/hello (registered|created)/),
      'stowage register populator image --node Image': shows(/image (registered|created)/),
      'stowage register populator archive --node Archive': shows(/archive (registered|created)/),
      'kubectl create rolebinding stowage-secrets -n default --clusterrole=stowage-populator-secrets --serviceaccount=stowage:stowage':
        shows(/created/),
      'stowage why pvc root': shows(/root/),
      'stowage get populators': shows(/hello +/),
      'kubectl logs': named('kubectl logs'),
      'stowage why pvc greeting': shows(
        /greeting/,
        `kubectl create -f - <<< '{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"greeting"},"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"fast","resources":{"requests":{"storage":"64Mi"}},"dataSourceRef":{"apiGroup":"hello.example.com","kind":"Hello","name":"example"}}}' && stowage why pvc greeting`,
      ),
      'stowage watch --http-endpoint': {
        ...watches,
        as: ['stowage watch --http-endpoint 127.0.0.1:0'],
      },
    },
  },
  {
    path: 'docs/backups.md',
    world: emptyCluster,
    typed: {
      'stowage install --components snapshot-crds,populator-crds': shows(/backups/),
      [APPLY]: applied,
      'stowage create backup prod/monday --pvc db --to https://backups.example.com/db/monday.tar.zst --wait':
        shows(
          /tuesday created/,
          'stowage create backup prod/tuesday --pvc db --to https://backups.example.com/db/tuesday.tar.zst',
        ),
      'stowage register populator backup --node Backup': shows(/backup (registered|created)/),
    },
  },
];
