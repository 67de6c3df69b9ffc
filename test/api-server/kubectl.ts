import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { clientMinor, kubectlIn } from '../support/kubectl.ts';
import { PATHS } from './builtin.ts';
import { DISK_CRD } from './disk-crd.ts';
import { DISKS, disk } from './disks.ts';
import { cleanUp, type Suite } from './server.ts';

/** Output of stock kubectl for custom resources. */
export const kubectlCustom: Suite = (server) => {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-kubectl-'));
  const { use, kubectl, start, expectOutput, applied } = kubectlIn(folder);

  /**
   * Debian 12's kubectl is 1.20: it lacks strict validation, subresources and waiting for a field.
   */
  const old = clientMinor() < 27;

  afterAll(() => rmSync(folder, { recursive: true }));
  beforeAll(() => use({ kubeconfig: readFileSync(server().kubeconfig, 'utf8') }));
  cleanUp(server, DISKS, PATHS.events);
  /** Writes through the status subresource. Other fields of the patch must be ignored. */
  async function setStatus(name: string, patch: object): Promise<void> {
    if (!old) {
      const line = `patch disk ${name} --type=merge --subresource=status -p '${JSON.stringify(patch)}'`;
      return expectOutput(line, `disk.example.com/${name} patched`);
    }
    const { out } = await kubectl(`get disk ${name} -o json`);
    const path = `/apis/example.com/v1/disks/${name}/status`;
    await expectOutput(`replace --raw ${path} -f -`, /"status":/, { ...JSON.parse(out), ...patch });
  }

  describe('reading', () => {
    test('lists resources by their names', async () => {
      const { out } = await kubectl('api-resources --no-headers');
      expect(out).toMatch(/^disks +dk +example.com\/v1 +false +Disk$/m);
      expect(out).toMatch(/^persistentvolumes +pv +v1 +false +PersistentVolume$/m);
      expect(out).toMatch(/^storageclasses +sc +storage.k8s.io\/v1 +false +StorageClass$/m);
    });

    test('gets by label, field, short name and page', async () => {
      for (const [name, tier] of [
        ['a', 'x'],
        ['b', 'y'],
        ['c', 'y'],
      ] as const)
        await applied(disk(name, { labels: { tier } }));
      await expectOutput(
        'get dk -o name',
        'disk.example.com/a\ndisk.example.com/b\ndisk.example.com/c',
      );
      await expectOutput(
        'get disks -o name --chunk-size=1',
        'disk.example.com/a\ndisk.example.com/b\ndisk.example.com/c',
      );
      await expectOutput('get disks -o name -l tier=x', 'disk.example.com/a');
      await expectOutput(
        "get disks -o name -l 'tier notin (x)'",
        'disk.example.com/b\ndisk.example.com/c',
      );
      await expectOutput(
        'get disks -o name --field-selector metadata.name=b',
        'disk.example.com/b',
      );
      await expectOutput('get disk b -o jsonpath={.spec.mode}', 'Filesystem');
      await expectOutput(
        'get disk nope',
        'Error from server (NotFound): disks.example.com "nope" not found',
      );
    });

    test('gets the events of an object', async () => {
      const event = (name: string, of: string) => ({
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name, namespace: 'default' },
        involvedObject: { kind: 'Disk', name: of },
      });
      await applied(event('one', 'a'));
      await applied(event('two', 'b'));
      await expectOutput('get events -o name --field-selector involvedObject.name=b', 'event/two');
    });

    test('watches', async () => {
      await applied(disk('a'));
      const { lines: seen, exitCode, stop } = start('get disks -w -o name');
      expect(await seen.next()).toEqual('disk.example.com/a');
      await applied(disk('b'));
      expect(await seen.next()).toEqual('disk.example.com/b');
      stop();
      await exitCode;
    });
  });

  describe('writing', () => {
    test('applies and applies again', async () => {
      await expectOutput('apply -f -', 'disk.example.com/a created', disk('a'));
      await expectOutput('apply -f -', 'disk.example.com/a unchanged', disk('a'));
      await expectOutput(
        'apply -f -',
        'disk.example.com/a configured',
        disk('a', {}, { nodeName: 'n1', mode: 'Block' }),
      );
      await expectOutput('get disk a -o jsonpath={.spec.mode}/{.metadata.generation}', 'Block/2');
    });

    test('creates with a generated name', async () => {
      const object = disk('');
      await expectOutput('create -f -', /^disk.example.com\/x-[a-z0-9]{5} created$/, {
        ...object,
        metadata: { generateName: 'x-' },
      });
    });

    test('refuses to create what exists, and in a namespace that does not', async () => {
      await applied(disk('a'));
      await expectOutput(
        'create -f -',
        'Error from server (AlreadyExists): error when creating "STDIN": disks.example.com "a" already exists',
        disk('a'),
      );
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p', namespace: 'nope' },
        spec: { containers: [{ name: 'a', image: 'x' }] },
      };
      await expectOutput('create -f -', /namespaces "nope" not found/, pod);
    });

    test.each([
      [
        'unknown field',
        { nodeName: 'n1', foo: 1 },
        old
          ? 'Warning: unknown field "spec.foo"\ndisk.example.com/a created'
          : 'Error from server (BadRequest): error when creating "STDIN": Disk in version "v1" cannot be handled as a Disk: strict decoding error: unknown field "spec.foo"',
      ],
      [
        'missing field',
        {},
        /^The Disk "a" is invalid: \n\* spec.nodeName: Required value\n\* <nil>: Invalid value: null: some validation rules were not checked/,
      ],
      [
        'wrong type',
        { nodeName: 5 },
        /spec.nodeName: Invalid value: "integer": spec.nodeName in body must be of type string: "integer"/,
      ],
      [
        'wrong value',
        { nodeName: 'n1', mode: 'Tape' },
        /spec.mode: Unsupported value: "Tape": supported values: "Filesystem", "Block"/,
      ],
      [
        'rule in a list',
        { nodeName: 'n1', slots: [{ port: 1 }, { port: 100 }] },
        'The Disk "a" is invalid: spec.slots[1]: Invalid value: port is too high',
      ],
    ])('refuses: %s', async (_, spec, message) => {
      await expectOutput('create -f -', message, disk('a', {}, spec));
    });

    test('refuses a change that a rule forbids', async () => {
      await applied(disk('a', {}, { nodeName: 'n1', size: '1Gi' }));
      await expectOutput(
        'apply -f -',
        'The Disk "a" is invalid: spec.nodeName: Invalid value: "n2": nodeName is immutable',
        disk('a', {}, { nodeName: 'n2', size: '1Gi' }),
      );
      await expectOutput(
        'apply -f -',
        'The Disk "a" is invalid: spec: Invalid value: size can only grow',
        disk('a', {}, { nodeName: 'n1', size: 1024 }),
      );
      await expectOutput(
        'apply -f -',
        'disk.example.com/a configured',
        disk('a', {}, { nodeName: 'n1', size: '2G' }),
      );
    });

    test('patches', async () => {
      await applied(disk('a'));
      await expectOutput(
        `patch disk a --type=merge -p '{"spec":{"mode":"Block"}}'`,
        'disk.example.com/a patched',
      );
      await expectOutput(
        `patch disk a --type=json -p '[{"op":"test","path":"/spec/mode","value":"Block"},{"op":"add","path":"/metadata/labels","value":{"k":"v"}}]'`,
        'disk.example.com/a patched',
      );
      await expectOutput(
        `patch disk a --type=json -p '[{"op":"test","path":"/spec/mode","value":"Tape"}]'`,
        /^The request is invalid(: the server rejected our request due to an error in our request)?$/,
      );
      await setStatus('a', { status: { phase: 'Ready' }, spec: { nodeName: 'n2' } });
      await expectOutput(
        'get disk a -o jsonpath={.spec}{.status}{.metadata.labels}{.metadata.generation}',
        '{"mode":"Block","nodeName":"n1"}{"phase":"Ready"}{"k":"v"}2',
      );
      await expectOutput(
        `patch disk a -p '{}'`,
        /strategic merge patch|unknown format|UnsupportedMediaType/,
      );
    });

    test('dry-run on the server checks and stores nothing', async () => {
      if (old) {
        // This kubectl searches for the parameter in an OpenAPI document, which has no paths here.
        const path = "create --raw '/apis/example.com/v1/disks?dryRun=All' -f -";
        await expectOutput(path, /"uid":/, disk('a'));
        await expectOutput(path, /spec.nodeName: Required value/, disk('a', {}, {}));
      } else {
        await expectOutput(
          'apply --dry-run=server -f -',
          'disk.example.com/a created (server dry run)',
          disk('a'),
        );
        await expectOutput('create --dry-run=server -f -', /is invalid/, disk('a', {}, {}));
      }
      await expectOutput('get disks', /^No resources found/);
    });

    test('serves a CRD that is applied later', async () => {
      const crd = structuredClone(DISK_CRD);
      crd.metadata.name = 'tapes.example.com';
      crd.spec.names = { plural: 'tapes', singular: 'tape', kind: 'Tape', shortNames: [] };
      await applied(crd);
      await expectOutput(
        'wait --for=condition=established crd/tapes.example.com',
        /condition met$/,
      );
      await applied({ ...disk('t'), kind: 'Tape' });
      await expectOutput('delete crd tapes.example.com', /deleted$/);
      await expectOutput(
        'get tapes',
        /the server (could not find the requested resource|doesn't have a resource type)/,
      );
    });
  });

  describe('deleting', () => {
    test('waits until the finalizers are gone', async () => {
      await applied(disk('a', { finalizers: ['example.com/keep'] }));
      await expectOutput('delete disk a --wait=false', /disk.example.com "a" deleted$/);
      await expectOutput('get disk a -o jsonpath={.metadata.deletionGracePeriodSeconds}', '0');
      await expectOutput(
        `patch disk a --type=merge -p '{"metadata":{"finalizers":["example.com/keep","example.com/late"]}}'`,
        'The Disk "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/late"}',
      );
      const deleting = start('delete disk a');
      expect(await deleting.lines.next()).toBe('disk.example.com "a" deleted');
      await expectOutput(
        `patch disk a --type=merge -p '{"metadata":{"finalizers":null}}'`,
        'disk.example.com/a patched',
      );
      expect(await deleting.exitCode).toBe(0);
      await expectOutput(
        'wait --for=delete disk/a --timeout=10s',
        old ? /no matching resources/ : '',
      );
      await expectOutput('get disks', /^No resources found/);
    });

    test.each([
      ['background', /^No resources found/],
      ['foreground', /^No resources found/],
      ['orphan', /child/],
    ])('--cascade=%s', async (policy, left) => {
      await applied(disk('owner'));
      const { out: uid } = await kubectl('get disk owner -o jsonpath={.metadata.uid}');
      const owner = {
        apiVersion: 'example.com/v1',
        kind: 'Disk',
        name: 'owner',
        uid,
        blockOwnerDeletion: true,
      };
      await applied(disk('child', { ownerReferences: [owner] }));
      await expectOutput(`delete disk owner --cascade=${policy}`, /deleted$/);
      if (policy === 'background') await kubectl('wait --for=delete disk/child --timeout=10s');
      await expectOutput('get disks --no-headers', left);
    });

    test('takes the contents of a namespace along', async () => {
      await applied({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'work' } });
      await applied({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p', namespace: 'work' },
        spec: { containers: [{ name: 'a', image: 'x' }] },
      });
      await expectOutput('delete namespace work', 'namespace "work" deleted');
      await expectOutput('get pods -A', /^No resources found/);
    });
  });

  const READY = old ? 'condition=Ready' : 'jsonpath={.status.phase}=Ready';

  test(`wait --for=${READY}`, async () => {
    await applied(disk('a'));
    const waiting = kubectl(`wait --for=${READY} disk/a --timeout=10s`);
    await setStatus('a', {
      status: { phase: 'Ready', conditions: [{ type: 'Ready', status: 'True' }] },
    });
    expect(await waiting).toEqual({ out: 'disk.example.com/a condition met', exitCode: 0 });
  });
};
