import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { VERSION } from '../../src/api/version.ts';
import { allCommands } from '../../src/cli/lib/command-tree.ts';
import { createProgram } from '../../src/cli/program.ts';
import { fakeIo, stowage } from '../support/fake-io.ts';

test('--version prints the version of package.json', async () => {
  expect(VERSION).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version);
  expect(await stowage(['--version'])).toMatchObject({ code: 0, out: `${VERSION}\n`, err: '' });
});

test.each([[['--help']], [['help']], [['create', '--help']], [['get', 'vol', '-h']]])(
  '%j prints help to standard output',
  async (argv) => {
    const { code, out, err } = await stowage(argv);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('Usage: stowage');
  },
);

test('help fits a terminal of 80 columns, except for usage and examples', () => {
  const { io, outcome } = fakeIo();
  for (const command of allCommands(createProgram(io)))
    command.configureOutput({ getOutHelpWidth: () => 80 }).outputHelp();
  const lines = outcome.out
    .replace(/^Examples:\n(?: .*\n)+/gm, '')
    .split('\n')
    .filter((line) => !line.startsWith('Usage: '));
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
});

const CREATE = [
  'create',
  'volume',
  'data1',
  '--node',
  'n1',
  '--size',
  '1Gi',
  '--storage-class',
  'fast',
];

test.each([
  [['help', 'get', 'volumes'], 'Usage: stowage get volumes'],
  [['help', 'get', 'vol'], 'Usage: stowage get volumes'],
  [['help', 'get'], 'Usage: stowage get'],
  [['help', 'why', 'volume'], 'Usage: stowage why'],
  [['help', 'help'], 'Usage: stowage help'],
])('%j prints the help of the command', async (argv, usage) => {
  const { code, out, err } = await stowage(argv);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toContain(usage);
});

describe('wrong usage exits with 2 and sends no request', () => {
  test.each<[string[], string]>([
    [[], 'Usage: stowage'],
    [['create'], 'Usage: stowage create'],
    [['creat'], 'Did you mean create?'],
    [['help', 'nope'], "error: unknown command 'nope'"],
    [['help', 'creat'], 'Did you mean create?'],
    [['help', 'get', 'pods'], 'hint: stowage get takes volumes|volume|vol'],
    [['help', 'create', 'pods'], 'hint: stowage create takes volume'],
    [['volumes'], 'hint: The verb comes first: stowage create volumes, stowage get volumes'],
    [['get', 'pods'], 'hint: stowage get takes volumes|volume|vol'],
    [['create', 'pods'], 'hint: stowage create takes volume|volumes|vol, storageclass'],
    [['get', '-w', 'volumes'], 'Options follow the kind'],
    [['get', 'volumez'], 'Did you mean one of volume, volumes?'],
    [['get', 'volumes', '--outptu'], 'Did you mean --output?'],
    [['get', 'volumes', '-o', 'xml'], "argument 'xml' is invalid"],
    [['get', 'volumes', 'a/b'], 'A name has'],
    [['get', 'volumes', 'a', '-l', 'x=y'], 'Names and --selector cannot be given together'],
    [['get', 'volumes', 'a', '--node', 'n1'], 'Names and --node cannot be given together'],
    [['get', 'volumes', '--node', 'n1,N2'], 'A name has'],
    [['get', 'volumes', '--sort-by', 'size'], "argument 'size' is invalid"],
    [['describe', 'volume', 'a', '-l', 'x'], 'Names and --selector cannot be given together'],
    [['describe', 'pod', 'a', '-A'], 'Names cannot be given together with --all-namespaces'],
    [['describe', 'volume', 'a/b'], 'A name has'],
    [['describe', 'node', 'a/b'], 'A name has'],
    [['describe', 'storageclass', 'a/b'], 'A name has'],
    [['describe', 'pvc', 'a/b/c'], 'Write NAME, or NAMESPACE/NAME.'],
    [['describe', 'pod', 'A/b'], 'A namespace has'],
    [['retry', 'volume'], 'retry volume needs names, or --selector, or --all'],
    [['retry', 'volume', 'a', '--all'], 'retry volume needs names, or --selector, or --all'],
    [['retry', 'volume', '-l', ' '], '--selector is empty'],
    [['retry', 'pvc/db/a'], 'stowage retry takes Volumes, not pvc/db/a'],
    [['retry', 'pvc', 'a'], 'stowage retry volume NAME. To find it: stowage why pvc/a'],
    [['retry', 'pvc', 'a', '-n', 'db'], 'To find it: stowage why pvc/db/a'],
    [['retry', 'pvc/a', '-n', 'db'], 'To find it: stowage why pvc/db/a'],
    [['retry', 'pvc/db/a', '-n', 'x'], 'To find it: stowage why pvc/db/a'],
    [['retry', 'pvc', '--all'], 'stowage retry takes Volumes, not pvc/NAME'],
    [['retry', 'pod', 'A;b'], 'stowage retry takes Volumes, not pod/NAME'],
    [['detach', 'pod', 'a', '--node', 'n1'], 'stowage detach takes Volumes, not pod/a'],
    [['describe', 'pvc/a', 'pod/b'], 'pvc/a and pod/b are of several kinds'],
    [['delete', 'volume', '--all', '--forget-node'], 'since it abandons data'],
    [['delete', 'volume'], 'needs names, or --selector, or --all'],
    [['delete', 'volume', 'A'], 'A name has'],
    [['delete', 'volume', 'a', '--timeout', '5'], 'Write a duration'],
    [CREATE.toSpliced(2, 1), 'error: missing: NAME\n'],
    [
      ['create', 'volume', 'data1', '--size', '1Gi', '--storage-class', 'fast'],
      'error: missing: --node\n',
    ],
    [
      ['create', 'volume', 'data1', '--node', 'n1', '--storage-class', 'fast'],
      'error: missing: --size or --device or --vg\n',
    ],
    [['create', '--wait'], 'A kind or --filename is required'],
    [['create', '--wait', 'volume', 'a'], 'A kind or --filename is required'],
    [['create', 'volumme', 'a'], 'Did you mean volume?'],
    [['create', '-f', 'a.yaml', 'volume'], '--filename and "volume" cannot be given together'],
    [['create', '-f'], "'-f, --filename <file>' argument missing"],
    [['create', 'volume', 'a', '-f', 'a.yaml'], "unknown option '-f'"],
    [['delete'], 'Usage: stowage delete'],
    [['delete', 'volumez'], 'Did you mean one of volume, volumes?'],
    [CREATE.with(2, 'data_1'), 'A name has'],
    [CREATE.with(4, 'N1'), 'A name has'],
    [[...CREATE, '--directory', 'srv'], 'spec.sparseLoopDevice.directory is "srv"'],
    [[...CREATE, '--type', 'tape'], "argument 'tape' is invalid"],
    [[...CREATE, '--size', '2Gi'], 'Give it once.'],
    [[...CREATE, '-l', 'a'], 'key=value'],
    [[...CREATE, '--dry-run', 'all'], "argument 'all' is invalid"],
    [[...CREATE, 'data2'], 'too many arguments'],
    [['get', 'volumes', '--request-timeout', 'soon'], 'Write a duration'],
    [['install', '--dry-run=client', '-n', 'My Apps'], 'A namespace has at most 63'],
    [['sandbox', '--port', '65536'], 'whole number from 0 to 65535'],
    [['ui', '--port', '-1'], 'whole number from 0 to 65535'],
    [['sandbox', '--feature-gates', 'Any=true'], '"Any" is not a feature gate'],
  ])('%j', async (argv, message) => {
    const { code, out, err, requests } = await stowage(argv);
    expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] });
    expect(err).toContain(message);
  });
});

test('takes global flags of the connection in any position', async () => {
  const flags = [
    '--kubeconfig',
    '/k',
    '--context',
    'c',
    '-n',
    'ns',
    '--as',
    'me',
    '--request-timeout',
    '5s',
  ];
  const wanted = {
    kubeconfig: '/k',
    context: 'c',
    namespace: 'ns',
    as: 'me',
    requestTimeoutMs: 5000,
    version: VERSION,
  };
  expect((await stowage([...flags, 'get', 'volumes'])).connections).toEqual([wanted]);
  expect((await stowage(['get', 'volumes', ...flags])).connections).toEqual([wanted]);
});

test.each([
  ...['persistentvolumeclaims', 'persistentvolumeclaim', 'pvc', 'pods', 'pod', 'po'],
  ...['nodes', 'node', 'no', 'snapshots', 'snapshot', 'volumesnapshots', 'volumesnapshot', 'vs'],
])('%s is accepted as the kind by describe and why', async (kind) => {
  expect(await stowage(['describe', kind, 'a'])).toMatchObject({ code: 3 });
  expect(await stowage(['why', kind, 'a'])).toMatchObject({ code: 3 });
});

test.each(['volume', 'volumes', 'vol'])('%s is accepted as the kind by each verb', async (kind) => {
  expect(await stowage(['get', kind])).toMatchObject({ code: 0 });
  expect(await stowage(['describe', kind, 'a'])).toMatchObject({ code: 3 });
  expect(await stowage(['why', kind, 'a'])).toMatchObject({ code: 3 });
  expect(await stowage(['delete', kind, 'a', '--ignore-not-found'])).toMatchObject({ code: 0 });
  expect(await stowage(CREATE.with(1, kind))).toMatchObject({ code: 0 });
});
