import { named, type Story, script, servesPage, shows, watches } from '../story.ts';
import { emptyCluster, withVolume } from '../worlds.ts';

/** Expects that the object does not exist. Tests of `why` cover existing objects. */
const absent = (command: string, as?: string) => ({
  ...shows(/not found/, as ?? command),
  exit: 3,
});
/** Lanes of the test suite that have a command. */
const LANES = [
  'unit',
  'integration',
  'all',
  'smoke',
  'cluster',
  'codes',
  'faults',
  'fuzz',
  'mutations',
  'times',
];
const unreached = { says: /n1/, exit: 1 };

export const EXPLAINING_STORIES: readonly Story[] = [
  {
    path: 'docs/troubleshooting.md',
    world: withVolume,
    typed: {
      'stowage why --all': { says: /blocked, by/, exit: 5 },
      'stowage why pod db/db-0': absent('stowage why pod db/db-0'),
      'stowage why pvc db/data-0': absent('stowage why pvc db/data-0'),
      'stowage why volume data1': shows(/Volume: +data1/),
      'stowage why snapshot db/backup': absent('stowage why snapshot db/backup'),
      'stowage why node n1': shows(/n1/),
      'stowage why volume/data1 pvc/db/data-0': { says: /Volume: +data1/, exit: 7 },
      'stowage describe pod db/db-0': absent('stowage describe pod db/db-0'),
      'stowage describe pvc db/data-0': absent('stowage describe pvc db/data-0'),
      'stowage describe volume data1': shows(/Name: +data1/),
      'stowage describe snapshot db/backup': absent('stowage describe snapshot db/backup'),
      'stowage describe node n1': shows(/Name: +n1[\s\S]*data1 /),
      'stowage describe storageclass fast': absent('stowage describe storageclass fast'),
      'stowage describe snapshotclass fast': absent('stowage describe snapshotclass fast'),
      'stowage check cluster': { says: /no daemon leads/, exit: 5 },
      'stowage check node n1': unreached,
      'stowage check node n1 --trust-host-key SHA256:…': {
        says: /n1/,
        exit: 1,
        as: [`stowage check node n1 --trust-host-key SHA256:${'A'.repeat(43)}`],
      },
      'stowage get nodes': shows(/n1/, 'stowage get nodes --timeout 1s'),
      'stowage retry volume data1': shows(/nothing to retry/),
      'stowage retry volume --all': { says: /nothing to retry/ },
      'kubectl get lease -A --field-selector metadata.name=stowage -o custom-columns=NAMESPACE:.metadata.namespace,HOLDER:.spec.holderIdentity,RENEWED:.spec.renewTime':
        { says: /NAMESPACE|stowage|No resources found/ },
      'kubectl -n stowage logs deployment/stowage': { says: /./, exit: 1 },
      'stowage watch': watches,
      'stowage pause node n1 --wait': shows(/node\/n1 paused/, 'stowage pause node n1'),
      'stowage resume node n1': shows(/node\/n1 resumed/),
      'stowage pause volume data1': shows(/data1 paused/),
      'stowage resume volume data1': shows(/data1 resumed/),
      "kubectl annotate volume data1 stowage.dev/paused='disk is replaced'": shows(/annotated/),
      'stowage support-bundle': shows(/nodes\/n1\.json: /, 'cd $FOLDER && stowage support-bundle'),
      'tar -xzf stowage-support-DATE.tar.gz': {
        says: /LOOK THROUGH IT/,
        as: [
          'cd $FOLDER && tar -xzf stowage-support-*.tar.gz && cat stowage-support-*Z/README.txt',
        ],
      },
    },
  },
  {
    path: 'docs/reasons.md',
    world: withVolume,
    typed: {
      'stowage why': { says: /required|missing|usage/i, exit: 2 },
      'stowage why -o json': {
        ...shows(/"cause"|"nothing"/, 'stowage why volume data1 -o json'),
      },
      'stowage check node': { ...unreached, as: ['stowage check node n1'] },
      'stowage retry volume NAME': named('stowage retry volume'),
    },
  },
  {
    path: 'docs/populator-failures.md',
    world: emptyCluster,
    typed: {
      'stowage why pvc NAMESPACE/NAME': absent('', 'stowage why pvc db/data-0'),
      'stowage check cluster': { says: /no daemon leads/, exit: 5 },
      'stowage install --components populator-crds': shows(/volumepopulators/),
      'stowage get populators': shows(/^/),
      'stowage register populator': named('stowage register populator', /--mount-path/),
      'stowage unregister populator NAME': {
        ...shows(/No populator is registered as hello/, 'stowage unregister populator hello'),
        exit: 3,
      },
    },
  },
  {
    path: 'docs/hardening.md',
    world: withVolume,
    typed: {
      'ssh root@n1 useradd --system --create-home --shell /bin/sh stowage': {
        runBy: 'test/support/sudo-user.ts',
        has: "'useradd'",
      },
      "stowage print sudoers --user stowage --directory /srv/volumes | ssh root@n1 'install -m 0440 /dev/stdin /etc/sudoers.d/stowage.new'":
        {
          says: /NOPASSWD/,
          as: [
            "stowage print sudoers --user stowage --directory /srv/volumes | sh -c 'install -m 0440 /dev/stdin $FOLDER/sudoers.new' && cat $FOLDER/sudoers.new",
          ],
        },
      'visudo -cf /etc/sudoers.d/stowage.new && mv /etc/sudoers.d/stowage.new /etc/sudoers.d/stowage':
        {
          says: /parsed OK/,
          as: ['visudo -cf $FOLDER/sudoers.new && mv $FOLDER/sudoers.new $FOLDER/sudoers'],
        },
      'stowage install': shows(/clusterrole/),
      'stowage ui': named('stowage ui'),
      'kubectl label namespace stowage pod-security.kubernetes.io/enforce=restricted':
        shows(/stowage labeled/),
      'kubectl label namespace monitoring stowage.dev/metrics=allowed': shows(
        /monitoring labeled/,
        'kubectl create namespace monitoring && kubectl label namespace monitoring stowage.dev/metrics=allowed',
      ),
    },
  },
  { path: 'docs/specs.md', world: emptyCluster, typed: {} },
  {
    path: 'docs/threat-model.md',
    world: emptyCluster,
    typed: {
      'stowage install': shows(/clusterrole/),
      'stowage top volumes': named('stowage top volumes'),
      'stowage ui': named('stowage ui'),
    },
  },
  {
    path: 'docs/developing.md',
    world: emptyCluster,
    typed: {
      'stowage sandbox --kubeconfig-out FILE': {
        says: /API server listens on https/,
        goesOn: 'until it says so',
        as: ['stowage sandbox --kubeconfig-out $FOLDER/sandbox'],
      },
      'stowage watch': watches,
      'kubectl explain': named('kubectl explain'),
      'stowage --version': shows(/^\d+\./),
      'npm run demo': script('demo'),
      'npm test': script('test'),
      'npm run build': script('build'),
      'npm run build:previous REVISION': script('build:previous'),
      'npm run generate': script('generate'),
      'npm run bench': script('bench'),
      'npm run cluster -- up': script('cluster'),
      'npm run cluster -- up kubelet sshd salt vm': script('cluster'),
    },
  },
  {
    path: 'docs/testing.md',
    world: emptyCluster,
    typed: {
      'npm test': script('test'),
      'npm run check': script('check'),
      ...Object.fromEntries(LANES.map((lane) => [`npm run test:${lane}`, script(`test:${lane}`)])),
      'npm run test:changed -- --since main --list': script('test:changed'),
      'npm run test:integration -- sparse jobs': script('test:integration'),
      'npm run test:unit -- storage/block --testNamePattern=refuses': script('test:unit'),
    },
  },
  {
    path: 'docs/design.md',
    world: emptyCluster,
    typed: { 'stowage watch': watches },
  },
  {
    path: 'docs/extending.md',
    world: emptyCluster,
    typed: { 'npm run generate': script('generate') },
  },
  { path: 'docs/README.md', world: emptyCluster, typed: {} },
  { path: 'docs/trying.md', world: emptyCluster, typed: {} },
  { path: 'docs/running.md', world: emptyCluster, typed: {} },
  {
    path: 'docs/ui.md',
    world: emptyCluster,
    typed: {
      // A browser would open where the test runs.
      'stowage ui --open': servesPage('stowage ui'),
      'stowage ui --port 8090': servesPage('stowage ui --port 0'),
      'stowage ui': named('stowage ui'),
    },
  },
  { path: 'docs/building.md', world: emptyCluster, typed: {} },
];
