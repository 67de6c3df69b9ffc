import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { stowage } from '../../../support/fake-io.ts';
import { classNamed, pvOf, volumeNamed } from '../../../support/volumes.ts';
import { documents, manifestDirectory, remove, volume, whats } from './manifests.ts';

const folder = manifestDirectory();

const available = (name: string) => ({
  [`volumes/${name}`]: volumeNamed(name, { phase: 'Available' }),
});
const deleted = (name: string) => `volume.storage.metalk8s.scality.com/${name} deleted\n`;

test('deletes by kind and name, and ignores the rest of the manifest', async () => {
  const outcome = await remove(
    documents(volume('a', {}), classNamed('local', { parameters: { fsType: 'no' } })),
    [],
    {
      objects: { ...available('a'), 'storageclasses/local': classNamed('local') },
    },
  );
  expect(outcome).toMatchObject({
    code: 0,
    out: `${deleted('a')}storageclass.storage.k8s.io/local deleted\n`,
    err: '',
  });
  expect(outcome.requests.find(({ what }) => what === 'delete volumes/a')?.options).toMatchObject({
    uid: 'uid-a',
  });
});

test('applies the rules of delete volume', async () => {
  const objects = { ...available('a'), 'persistentvolumes/a': pvOf(volumeNamed('a'), 'Bound') };
  const { code, err } = await remove(documents(volume('a')), [], { objects });
  expect(code).toBe(5);
  expect(err).toContain(
    'Volume a cannot be deleted: its PersistentVolume is bound to the claim db/data-0',
  );
});

test('keeps the class of a Volume that stays, and no other', async () => {
  const stays = { ...volumeNamed('a', { phase: 'Available' }) };
  const objects = {
    'volumes/a': { ...stays, spec: { ...stays.spec, storageClassName: 'local' } },
    'persistentvolumes/a': pvOf(volumeNamed('a'), 'Bound'),
    'storageclasses/local': classNamed('local'),
    'storageclasses/other': classNamed('other'),
  };
  const text = documents(volume('a'), classNamed('local'), classNamed('other'));
  const outcome = await remove(text, [], { objects });
  expect(outcome).toMatchObject({ code: 7, out: 'storageclass.storage.k8s.io/other deleted\n' });
  expect(outcome.err).toContain('storage class local is not deleted: Volume a uses it and stays');
  expect(whats(outcome)).not.toContain('delete storageclasses/local');
});

test('reports missing objects, unless --ignore-not-found is given', async () => {
  const text = documents(volume('a'), classNamed('local'));
  expect(await remove(text)).toMatchObject({ code: 3, out: '' });
  expect(await remove(text, ['--ignore-not-found'])).toMatchObject({ code: 0, out: '', err: '' });
  expect(await remove(text, [], { objects: available('a') })).toMatchObject({
    code: 7,
    out: deleted('a'),
  });
});

test('--wait waits until the Volumes are gone', async () => {
  const { code, out, err } = await remove(documents(volume('a')), ['--wait'], {
    objects: available('a'),
    events: [{ type: 'DELETED', object: volumeNamed('a') }],
  });
  expect({ code, out }).toEqual({ code: 0, out: deleted('a') });
  expect(err).toBe('a: Available\na: gone\n');
});

test('asks on a terminal, unless --yes is given', async () => {
  const path = join(folder.path, 'delete.yaml');
  await writeFile(path, documents(volume('a')));
  const world = { objects: available('a'), tty: true };
  const declined = await stowage(['delete', '-f', path], { ...world, answers: [false] });
  expect(declined).toMatchObject({ code: 5, out: '' });
  expect(declined.questions).toHaveLength(1);
  expect(await stowage(['delete', '-f', path, '--yes'], world)).toMatchObject({
    code: 0,
    questions: [],
  });
});
