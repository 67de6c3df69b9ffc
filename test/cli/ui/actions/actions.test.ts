import { describe, expect, test } from '@jest/globals';
import { run as runProgram } from '../../../../src/cli/run.ts';
import { type ActionReply, createActions } from '../../../../src/cli/ui/actions/actions.ts';
import type { Run } from '../../../../src/cli/ui/run-command.ts';
import { NodeError } from '../../../../src/nodes/errors.ts';
import type { Executor } from '../../../../src/nodes/job.ts';
import type { PlanAnswer, RunMessage, UiError } from '../../../../src/ui/protocol.ts';
import { nodeNamed } from '../../../support/cluster-objects.ts';
import { FakeClock, until } from '../../../support/fake-clock.ts';
import { fakeIo } from '../../../support/fake-io.ts';
import { refusal } from '../../../support/refusals.ts';
import { FROM_CLAIMS, grantNamed, TO_BACKUP } from '../../../support/snapshots.ts';
import { pvOf, ready, volumeNamed } from '../../../support/volumes.ts';

/** Key of a session. */
const KEY = 'key';
const AVAILABLE = { ...ready('True', 'Ready'), phase: 'Available' as const };
const DELETE = { action: 'deleteVolume', name: 'data1' };
const CREATE = {
  ...{ action: 'createVolume', name: 'new', node: 'n1', type: 'sparse', size: '1Gi' },
  storageClass: 'local',
};

/** A node that does not answer. */
const SILENT = {
  observe: async () => {
    throw new NodeError('unreachable', 'n1', 'no route to host');
  },
  close: async () => {},
} as unknown as Executor;

/** Returns the actions of a page in a world, with Stowage's own commands. */
async function scene(world: Parameters<typeof fakeIo>[0] = {}, run: Run = runProgram) {
  const clock = new FakeClock();
  const { io, outcome } = fakeIo({ clock, executor: SILENT, ...world });
  const connection = await io.connect({});
  const actions = createActions({ run, io, connection, flags: { color: true } });
  const body = <T>(reply: ActionReply): T => {
    if (!('body' in reply)) throw new Error(JSON.stringify(reply));
    return reply.body as T;
  };
  return {
    ...{ actions, clock, io },
    async plan(request: object, key = KEY): Promise<PlanAnswer> {
      return body<PlanAnswer>(await actions.answer('plan', request, key));
    },
    async refused(
      call: 'plan' | 'run' | 'rights' | 'choices',
      request: object,
      key = KEY,
    ): Promise<UiError> {
      const reply = await actions.answer(call, request, key);
      if (!('refusal' in reply)) throw new Error(JSON.stringify(reply));
      return reply.refusal;
    },
    async run(request: object, key = KEY): Promise<RunMessage[]> {
      const reply = await actions.answer('run', request, key);
      if (!('lines' in reply)) throw new Error(JSON.stringify(reply));
      const messages: RunMessage[] = [];
      for await (const line of reply.lines(new AbortController().signal))
        messages.push(JSON.parse(line));
      return messages;
    },
    /** Returns the writes that the API server got, without dry runs. */
    writes: () =>
      outcome.requests
        .filter(({ what }) => /^(create|patch|delete) /.test(what))
        .filter(({ options }) => !(options && 'dryRun' in options && options.dryRun))
        .map(({ what }) => what),
    requests: () => outcome.requests.map(({ what }) => what),
  };
}

const world = () => ({ objects: { 'volumes/data1': volumeNamed('data1', AVAILABLE) } });
/** Without --wait, which needs events of a watch. */
const gone = () => ({
  ...world(),
  events: () => [{ type: 'DELETED' as const, object: volumeNamed('data1') }],
});

describe('in a plan', () => {
  test('a deletion names the loss, asks for the name, and writes nothing', async () => {
    const { plan, writes, requests } = await scene(world());
    const answer = await plan(DELETE);
    expect(answer).toEqual({
      plan: expect.stringMatching(/^[\w-]{43}$/),
      seconds: 300,
      command: 'stowage delete volume data1 --wait',
      steps: { missing: '' },
      writes: [{ verb: 'delete', kind: 'Volume', name: 'data1', manifest: '' }],
      losses: [expect.stringMatching(/^Volume data1 on n1: .* is removed with all its data$/)],
      question: 'Delete, and destroy this data?',
      confirm: 'data1',
      notes: [],
    });
    expect(writes()).toEqual([]);
    // The API server checks the very request, as a dry run.
    expect(requests()).toContain('delete volumes/data1');
  });

  test('a deletion that keeps the data asks nothing', async () => {
    const volume = volumeNamed('data1', AVAILABLE);
    const kept = { ...volume, spec: { ...volume.spec, onDelete: 'Retain' as const } };
    const { plan } = await scene({ objects: { 'volumes/data1': kept } });
    expect(await plan(DELETE)).toMatchObject({ losses: [], question: '', confirm: '' });
  });

  test('the deletion of a Volume in use has the refusal of the command', async () => {
    const volume = volumeNamed('data1', AVAILABLE);
    const { plan, writes } = await scene({
      objects: { 'volumes/data1': volume, 'persistentvolumes/data1': pvOf(volume, 'Bound') },
    });
    const answer = await plan(DELETE);
    expect(answer).toMatchObject({
      ...{ plan: '', confirm: '', writes: [] },
      refusal: {
        code: 'conflict',
        message: expect.stringContaining('Volume data1 cannot be deleted: '),
        hint: expect.stringMatching(/./),
        overwrite: '',
      },
    });
    expect(writes()).toEqual([]);
  });

  test('a creation has the manifest, and why the steps on the node are not known', async () => {
    const { plan, writes } = await scene({
      objects: {
        'storageclasses/local': {
          ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' },
          metadata: { name: 'local' },
          ...({ provisioner: 'kubernetes.io/no-provisioner' } as object),
        },
      },
    });
    expect(await plan(CREATE)).toMatchObject({
      plan: expect.stringMatching(/./),
      command: expect.stringContaining('stowage create volume new --node n1'),
      steps: { missing: expect.stringContaining('no route to host') },
      writes: [
        {
          ...{ verb: 'create', kind: 'Volume', name: 'new' },
          manifest: expect.stringContaining('nodeName: n1'),
        },
      ],
      confirm: '',
    });
    expect(writes()).toEqual([]);
  });

  test('overwriting asks for the name', async () => {
    const { plan } = await scene();
    const request = { ...CREATE, type: 'raw', device: '/dev/sdb', overwrite: 'ext4:u' };
    const { size: _, ...raw } = request;
    expect(await plan(raw)).toMatchObject({
      losses: [expect.stringContaining('is overwritten if it is ext4:u')],
      confirm: 'new',
    });
  });

  test.each([
    ['create volumes/new', CREATE],
    ['delete volumes/data1', DELETE],
  ])('a refusal of the API server (%s) is shown', async (request, body) => {
    const message = 'volumes is forbidden: User "ann" cannot do that';
    const { plan, writes } = await scene({
      ...world(),
      failures: { [request]: refusal(403, message, { reason: 'Forbidden' }) },
    });
    expect(await plan(body)).toMatchObject({
      plan: '',
      refusal: {
        code: 'forbidden',
        reason: 'Forbidden',
        message: expect.stringContaining(message),
      },
    });
    expect(writes()).toEqual([]);
  });

  test('a detachment ends where the command would wait', async () => {
    const volume = volumeNamed('data1', {
      ...AVAILABLE,
      attachments: [
        {
          ...{ node: 'n2', state: 'Attached' as const, safeToMount: true, safeToDetach: true },
          ...{ since: '2030-01-01T00:00:00Z', pods: [] },
        },
      ],
    });
    const { plan } = await scene({ objects: { 'volumes/data1': volume } });
    const answer = await plan({ action: 'detachVolume', name: 'data1', node: 'n2' });
    expect(answer).toMatchObject({ plan: expect.stringMatching(/./), writes: [], confirm: '' });
    expect(await plan({ action: 'detachVolume', name: 'data1', node: 'n9' })).toMatchObject({
      ...{ plan: '', refusal: { code: 'not-found' } },
    });
  });

  test('--force needs a confirmation, although a terminal asks nothing', async () => {
    const volume = volumeNamed('data1', {
      ...AVAILABLE,
      attachments: [
        {
          ...{ node: 'n2', state: 'Attached' as const, safeToMount: true, safeToDetach: true },
          ...{ since: '2030-01-01T00:00:00Z', pods: [] },
        },
      ],
    });
    const { plan, refused, writes } = await scene({ objects: { 'volumes/data1': volume } });
    const body = { action: 'detachVolume', name: 'data1', node: 'n2', force: true };
    const answer = await plan(body);
    expect(answer).toMatchObject({ question: '', confirm: 'data1' });
    // The dry run of the plan.
    const before = writes();
    expect(await refused('run', { ...body, plan: answer.plan })).toMatchObject({
      code: 'not-confirmed',
    });
    expect(writes()).toEqual(before);
  });

  test.each([
    ['pauseVolume', 'Volume', 'data1', ['note: jobs that run already continue to their end']],
    ['pauseNode', 'Node', 'n1', ['note: jobs that run already continue to their end']],
  ])('%s has the annotation, and asks nothing', async (action, kind, name, notes) => {
    const { plan, writes } = await scene({
      objects: { ...world().objects, 'nodes/n1': nodeNamed('n1') },
    });
    const answer = await plan({ action, name });
    expect(answer).toMatchObject({
      ...{ writes: [{ verb: 'change', kind, name }], losses: [], question: '', confirm: '', notes },
      command: `stowage pause ${kind.toLowerCase()} ${name}`,
    });
    expect(answer.plan).not.toBe('');
    expect(answer.writes[0]?.manifest).toContain('stowage.dev/paused: "true"');
    expect(writes()).toEqual([]);
  });

  test.each<[string, object, string]>([
    [
      'a snapshot of a claim that does not exist',
      { action: 'createSnapshot', snapshot: 'prod/s1', claim: 'foo' },
      'there is no PersistentVolumeClaim prod/foo yet',
    ],
    [
      'a grant of a snapshot that does not exist',
      { action: 'grantSnapshot', snapshot: 'prod/s1', to: 'test' },
      'there is no VolumeSnapshot prod/s1 yet',
    ],
    [
      'the end of a grant',
      { action: 'revokeGrant', grant: 'prod/all' },
      'namespace test loses access to all VolumeSnapshots of namespace prod (claims)',
    ],
  ])('%s has a note', async (_what, request, note) => {
    const { name: _, ...all } = TO_BACKUP;
    const { plan, writes } = await scene({
      objects: {
        'referencegrants/all': grantNamed('all', { from: [FROM_CLAIMS], to: [all] }),
      },
      paths: {
        '/apis/gateway.networking.k8s.io/v1': {
          resources: [{ name: 'referencegrants', kind: 'ReferenceGrant', namespaced: true }],
        },
      },
    });
    const { plan: id, notes, writes: planned } = await plan(request);
    expect({ id, notes, planned }).toMatchObject({
      id: expect.stringMatching(/./),
      notes: [`note: ${note}`],
      planned: [expect.anything()],
    });
    expect(writes()).toEqual([]);
  });

  test('the end of a pause that does not exist has nothing to run', async () => {
    const { plan } = await scene(world());
    expect(await plan({ action: 'resumeVolume', name: 'data1' })).toMatchObject({
      ...{ plan: '', writes: [] },
    });
  });

  test('an expansion has the new size, and why the steps on the node are not known', async () => {
    const prepared = { node: 'n1', paths: [], identity: '' };
    const made = volumeNamed('data1', { ...AVAILABLE, prepared });
    const { plan, writes } = await scene({ objects: { 'volumes/data1': made } });
    const answer = await plan({ action: 'resizeVolume', name: 'data1', size: '2Gi' });
    expect(answer).toMatchObject({
      ...{ writes: [{ verb: 'change', kind: 'Volume', name: 'data1' }], question: '' },
      command: 'stowage resize volume data1 2Gi --wait',
      steps: { missing: expect.stringContaining('no route to host') },
    });
    expect(answer.writes[0]?.manifest).toContain('size: 2Gi');
    expect(writes()).toEqual([]);
  });

  test('an expansion to a smaller size has the refusal of the command', async () => {
    const { plan } = await scene(world());
    expect(await plan({ action: 'resizeVolume', name: 'data1', size: '1Mi' })).toMatchObject({
      ...{ plan: '', writes: [] },
      refusal: { code: 'conflict', message: expect.stringContaining('a Volume never shrinks') },
    });
  });

  test('a retry of a Volume that is ready has nothing to run', async () => {
    const { plan } = await scene(world());
    expect(await plan({ action: 'retryVolume', name: 'data1' })).toMatchObject({
      ...{ plan: '', writes: [], confirm: '' },
      notes: [expect.stringContaining('is ready: nothing to retry')],
    });
  });

  test('a hostile text is shown as text', async () => {
    const { plan } = await scene({
      failures: { 'get volumes/data1': refusal(500, '\u001b[2J\u202e https://ann:pw@host/x') },
    });
    const { refusal: shown } = await plan(DELETE);
    for (const part of ['\u001b', '\u202e', 'pw']) expect(shown?.message).not.toContain(part);
  });

  test('a command is ended after two minutes', async () => {
    const waiting: Run = (_argv, { signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(1)));
    const { plan, clock } = await scene({}, waiting);
    const answer = plan(DELETE);
    await clock.advance(120_000);
    expect(await answer).toMatchObject({ plan: '', refusal: { code: 'timeout' } });
  });
});

describe('in a run', () => {
  test('the command does what the plan showed, and reports the result', async () => {
    const { plan, run, writes } = await scene(gone());
    const { plan: id } = await plan(DELETE);
    const messages = await run({ ...DELETE, plan: id, confirm: 'data1' });
    expect(messages.at(-1)).toEqual({
      ...{ type: 'end', exitCode: 0, object: { kind: 'Volume', name: 'data1' } },
    });
    expect(messages).toContainEqual({
      type: 'progress',
      text: expect.stringContaining('is removed with all its data'),
    });
    expect(writes()).toEqual(['delete volumes/data1']);
  });

  test('a plan runs once, also after a double click', async () => {
    const { plan, run, refused, writes } = await scene(gone());
    const { plan: id } = await plan(DELETE);
    const body = { ...DELETE, plan: id, confirm: 'data1' };
    const first = run(body);
    expect(await refused('run', body)).toMatchObject({ code: 'no-plan' });
    await first;
    expect(writes()).toEqual(['delete volumes/data1']);
  });

  test.each<[string, object]>([
    ['another name', { name: 'data2' }],
    ['another action', { action: 'retryVolume' }],
    ['no plan', { plan: undefined }],
    ['another plan', { plan: 'x' }],
    ['a plan that is no text', { plan: ['x'] }],
  ])('%s is refused', async (_what, other) => {
    const { plan, refused, writes } = await scene(world());
    const { plan: id } = await plan(DELETE);
    const body = { ...DELETE, plan: id, confirm: 'data1', ...other };
    expect(await refused('run', body)).toMatchObject({ code: 'no-plan' });
    expect(writes()).toEqual([]);
  });

  test.each([[undefined], [''], ['data2'], ['DATA1'], [true], [['data1']], [{}]])(
    'the confirmation %j is refused',
    async (confirm) => {
      const { plan, refused, writes } = await scene(world());
      const { plan: id } = await plan(DELETE);
      expect(await refused('run', { ...DELETE, plan: id, confirm })).toMatchObject({
        code: 'not-confirmed',
      });
      expect(writes()).toEqual([]);
    },
  );

  test('a plan of 5 min ago is refused', async () => {
    const { plan, refused, clock, writes } = await scene(world());
    const { plan: id } = await plan(DELETE);
    await clock.advance(300_000);
    const body = { ...DELETE, plan: id, confirm: 'data1' };
    expect(await refused('run', body)).toMatchObject({ code: 'no-plan' });
    expect(writes()).toEqual([]);
  });

  test('a command that would lose more than the plan showed does nothing', async () => {
    const objects = { 'volumes/data1': volumeNamed('data1', AVAILABLE) };
    const kept = objects['volumes/data1'];
    kept.spec.onDelete = 'Retain';
    const { plan, run, writes } = await scene({ objects });
    const { plan: id } = await plan(DELETE);
    kept.spec.onDelete = 'Wipe';
    const messages = await run({ ...DELETE, plan: id, confirm: 'data1' });
    expect(messages.at(-1)).toMatchObject({
      exitCode: 5,
      error: { message: 'This is not what the plan showed: nothing was done' },
    });
    expect(writes()).toEqual([]);
  });

  test('a command that would lose something else than the user confirmed does nothing', async () => {
    const objects = { 'volumes/data1': volumeNamed('data1', AVAILABLE) };
    const { plan, run, writes } = await scene({ objects });
    const { plan: id } = await plan(DELETE);
    objects['volumes/data1'].spec.onDelete = 'Wipe';
    const messages = await run({ ...DELETE, plan: id, confirm: 'data1' });
    expect(messages.at(-1)).toMatchObject({ exitCode: 5 });
    expect(writes()).toEqual([]);
  });

  test('a plan of another session is refused', async () => {
    const { plan, refused, writes } = await scene(world());
    const { plan: id } = await plan(DELETE, 'another');
    const body = { ...DELETE, plan: id, confirm: 'data1' };
    expect(await refused('run', body)).toMatchObject({ code: 'no-plan' });
    expect(writes()).toEqual([]);
  });

  test('another object of the same name is not deleted', async () => {
    const objects = { 'volumes/data1': volumeNamed('data1', AVAILABLE) };
    const { plan, run, writes } = await scene({ objects });
    const { plan: id } = await plan(DELETE);
    objects['volumes/data1'].metadata.uid = 'another';
    const messages = await run({ ...DELETE, plan: id, confirm: 'data1' });
    expect(messages.at(-1)).toMatchObject({
      exitCode: 5,
      error: { message: 'This is not what the plan showed: nothing was done' },
    });
    expect(writes()).toEqual([]);
  });

  test('a command that is refused by now reports the error with its hint', async () => {
    const volume = volumeNamed('data1', AVAILABLE);
    const objects: NonNullable<Parameters<typeof fakeIo>[0]>['objects'] = {
      'volumes/data1': volume,
    };
    const { plan, run, writes } = await scene({ objects });
    const { plan: id } = await plan(DELETE);
    objects['persistentvolumes/data1'] = pvOf(volume, 'Bound');
    expect(await run({ ...DELETE, plan: id, confirm: 'data1' })).toEqual([
      {
        ...{ type: 'end', exitCode: 5 },
        error: {
          ...{ code: 'conflict', reason: 'Refused', hint: expect.stringMatching(/./) },
          message: expect.stringContaining('cannot be deleted'),
        },
      },
    ]);
    expect(writes()).toEqual([]);
  });

  test('a command goes on without a reader, and at most four run', async () => {
    const ends: (() => void)[] = [];
    let isRun = false;
    const slow: Run = async (argv, io) => {
      if (!isRun) {
        const client = (await io.connect({})).client;
        await client.delete({} as never, 'x').catch(() => {});
        return 1;
      }
      io.stderr.write(`${argv.at(-1)}: working\n`);
      await new Promise<void>((resolve) => ends.push(resolve));
      return 0;
    };
    const { actions, plan, refused } = await scene(
      { objects: { 'undefined/x': {} as never } },
      slow,
    );
    const bodies = await Promise.all(
      ['a', 'b', 'c', 'd'].map(async (name) => {
        const body = { action: 'deleteVolume', name };
        return { ...body, plan: (await plan(body)).plan };
      }),
    );
    const last = { action: 'deleteVolume', name: 'e' };
    const { plan: id } = await plan(last);
    isRun = true;
    for (const body of bodies)
      expect(await actions.answer('run', body, KEY)).toHaveProperty('lines');
    await until(() => ends.length === 4);
    expect(await refused('run', { ...last, plan: id })).toMatchObject({ code: 'too-many' });
    let isOver = false;
    const over = actions.ended().then(() => {
      isOver = true;
    });
    for (const end of ends.splice(0)) end();
    await over;
    expect(isOver).toBe(true);
    // The plan was not used up.
    expect(await actions.answer('run', { ...last, plan: id }, KEY)).toHaveProperty('lines');
    await until(() => ends.length === 1);
    ends[0]?.();
    await actions.ended();
  });

  test('the command has no consent flag, whatever was confirmed', async () => {
    const seen: string[][] = [];
    const spying: Run = (argv, io) => {
      seen.push([...argv]);
      return runProgram(argv, io);
    };
    const { plan, run } = await scene(gone(), spying);
    const { plan: id } = await plan(DELETE);
    await run({ ...DELETE, plan: id, confirm: 'data1' });
    expect(seen).toHaveLength(2);
    expect(seen[1]).toEqual(seen[0]);
    expect(seen.flat().join(' ')).not.toMatch(/--(yes|force|overwrite)/);
  });
});

describe('choices', () => {
  test('a class is offered as in the wizard', async () => {
    const { actions } = await scene({
      objects: {
        'storageclasses/local': {
          ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' },
          metadata: { name: 'local' },
          ...({ provisioner: 'kubernetes.io/no-provisioner' } as object),
        },
      },
    });
    expect(await actions.answer('choices', { of: 'storageClass' }, KEY)).toEqual({
      body: { choices: [expect.objectContaining({ value: 'local', disabled: '' })], notes: [] },
    });
  });

  test('a node that does not answer offers none, with the reason', async () => {
    const { actions } = await scene();
    expect(await actions.answer('choices', { of: 'device', node: 'n1' }, KEY)).toEqual({
      body: { choices: [], notes: [expect.stringContaining('no route to host')] },
    });
  });

  test('devices of a node have their content, and why they are refused', async () => {
    const row = { pkname: null, type: 'disk', ro: false, model: null, uuid: null, pttype: null };
    const lsblk = JSON.stringify({
      blockdevices: [
        { ...row, kname: 'sdb', size: '1073741824', fstype: 'ext4', uuid: 'u', mountpoint: null },
        { ...row, kname: 'sdc', size: '1073741824', fstype: null, mountpoint: '/mnt' },
      ],
    });
    const executor = {
      observe: async (_node: string, probes: readonly { name: string }[]) =>
        new Map(
          probes.map(({ name }) => [
            name,
            { exit: 0, stderr: '', stdout: name === 'offered devices' ? lsblk : '' },
          ]),
        ),
      close: async () => {},
    } as unknown as Executor;
    const { actions } = await scene({ executor });
    expect(await actions.answer('choices', { of: 'device', node: 'n1' }, KEY)).toEqual({
      body: {
        choices: [
          { value: '/dev/sdb', text: expect.stringMatching(/1Gi .*ext4:u/), disabled: '' },
          { value: '/dev/sdc', text: expect.any(String), disabled: 'mounted at /mnt' },
        ],
        notes: [],
      },
    });
  });

  test.each([
    [{ of: 'x' }],
    [{ of: 'constructor' }],
    [{ of: 'device', node: '--yes' }],
    [{ of: 'device', node: ['n1'] }],
    [{ of: 'device', node: 'n1', more: '1' }],
  ])('%j is refused', async (body) => {
    const { refused } = await scene();
    expect(await refused('choices', body)).toMatchObject({ code: 'wrong-field' });
  });
});

test.each([[{ namespace: '-x' }], [{ namespace: ['a'] }], [{ name: 'a' }]])(
  'rights of %j are refused',
  async (body) => {
    const { refused } = await scene();
    expect(await refused('rights', body)).toMatchObject({ code: 'wrong-field' });
  },
);

test('a body that is no object is refused', async () => {
  const { actions } = await scene();
  expect(await actions.answer('run', undefined, KEY)).toMatchObject({ status: 400 });
});
