import { expect, test } from '@jest/globals';
import { normalizeArgv } from '../../src/cli/normalize-argv.ts';
import { createProgram } from '../../src/cli/program.ts';
import { fakeIo, stowage } from '../support/fake-io.ts';

const program = createProgram(fakeIo().io);

test.each([
  ['get volumes -o=json', 'get volumes -o json'],
  ['get volumes -l=a=b -n=x', 'get volumes -l a=b -n x'],
  ['create -f=a.yaml', 'create -f a.yaml'],
  ['get volumes --watch=true --no-headers=true', 'get volumes --watch --no-headers'],
  ['get volumes -w=true', 'get volumes -w'],
  ['get volumes -w=false --watch=false --no-headers=false', 'get volumes'],
  ['delete volume a --wait=false --yes=true', 'delete volume a --yes'],
  ['get volumes --watch=maybe', 'get volumes --watch=maybe'],
  ['get volumes --output=json', 'get volumes --output=json'],
  ['watch --leader-election=false', 'watch --leader-election=false'],
  ['get volumes --selector --watch=true', 'get volumes --selector --watch=true'],
  ['get volumes -o -w=true', 'get volumes -o -w=true'],
  ['get volumes --nonsense=true -x=1', 'get volumes --nonsense=true -x=1'],
  ['get volumes -- -o=json', 'get volumes -- -o=json'],
  ['get volume/a', 'get volumes a'],
  ['get volume/a volumes/b vol/c -o=json', 'get volumes a b c -o json'],
  ['-n x delete volume/a --wait', '-n x delete volume a --wait'],
  ['get volume.storage.metalk8s.scality.com/a', 'get volumes a'],
  ['get volumes.storage.metalk8s.scality.com', 'get volumes'],
  ['get volumes.storage.metalk8s.scality.com volume/a b', 'get volumes a b'],
  ['get volume.example.com/a', 'get volume.example.com/a'],
  ['get snapshot.snapshot.storage.k8s.io/a', 'get snapshots a'],
  ['restore snapshot/prod/a --to test/b', 'restore snapshot prod/a --to test/b'],
  ['restore snapshot prod/a --to snapshot/b', 'restore snapshot prod/a --to snapshot/b'],
  ['grant snapshot snapshot/a --to test', 'grant snapshot snapshot/a --to test'],
  ['describe pvc/db/a pvc/b', 'describe pvc db/a b'],
  ['describe volumesnapshot.snapshot.storage.k8s.io/a', 'describe snapshot a'],
  ['describe pod pod/a', 'describe pod pod/a'],
  ['why volume/a', 'why volume/a'],
  ['delete volume a volume/b vol/c', 'delete volume a b c'],
  ['describe pvc volume/a', 'describe pvc volume/a'],
  ['delete volume -l x/y a', 'delete volume -l x/y a'],
  ['get volume/a -- b', 'get volumes a -- b'],
  ['get volumes,sc -o=json', 'get several volumes storageclasses -o json'],
  [
    '-n x get vol,sc -o json a b',
    '-n x get several volumes/a volumes/b storageclasses/a storageclasses/b -o json',
  ],
  ['get volumes.storage.metalk8s.scality.com,vs', 'get several volumes snapshots'],
  ['get volumes,vol a', 'get volumes a'],
  ['get sc/a volume/b storageclass/c', 'get several storageclasses/a volumes/b storageclasses/c'],
  ['get several volumes sc/a', 'get several volumes sc/a'],
  ['get volumes,nonsense a', 'get nonsense'],
  ['why volume,pvc a', 'why volume,pvc a'],
  ['delete volumes,vol a', 'delete volume a'],
])('%s is read as %s', (written, wanted) => {
  expect(normalizeArgv(written.split(' '), program)).toEqual(wanted.split(' '));
});

test.each([
  ['get volume/a b node/c', 'volume/a and node/c'],
  ['delete volume/a sc/b', 'volume/a and sc/b'],
  ['delete volume a sc/b', 'volume and sc/b'],
  ['get volumes a b node/c', 'volumes and node/c'],
])('names of several kinds are refused: %s', async (line, which) => {
  const { code, err, requests } = await stowage(line.split(' '));
  expect({ code, requests }).toEqual({ code: 2, requests: [] });
  expect(err).toContain(`${which} are of several kinds`);
});

test('an empty value of a flag is kept', () => {
  expect(normalizeArgv(['get', 'volumes', '-o='], program)).toEqual(['get', 'volumes', '-o', '']);
});

test('no flag is a switch of one command and takes a value in another', () => {
  const kinds = new Map<string, Set<boolean>>();
  const look = ({ options, commands }: typeof program) => {
    for (const { long, required, optional } of options) {
      kinds.set(long ?? '', (kinds.get(long ?? '') ?? new Set()).add(required || optional));
    }
    for (const command of commands) look(command);
  };
  look(program);
  expect([...kinds].filter(([, both]) => both.size > 1)).toEqual([]);
});

test('-o=json reports errors in JSON', async () => {
  const { code, err } = await stowage(['get', 'volume', 'a', '-o=json']);
  expect(code).toBe(3);
  expect(JSON.parse(err)).toMatchObject({ code: 'not-found' });
});
