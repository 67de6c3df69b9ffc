import { expect, test } from '@jest/globals';
import type { KubeNode } from '../../../src/api/core.ts';
import { OUT_OF_SERVICE_TAINT } from '../../../src/api/names.ts';
import type { Volume } from '../../../src/api/volume.ts';
import {
  type ActionRunnerDeps,
  createActionRunner,
  nothing,
  type VolumeFindings,
} from '../../../src/controllers/volume/actions.ts';
import { decide } from '../../../src/controllers/volume/decide.ts';
import type { ObservationTimes } from '../../../src/controllers/volume/observation-times.ts';
import { ApiError } from '../../../src/kube/errors.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import type { Executor } from '../../../src/nodes/job.ts';
import { createLoopNumbers } from '../../../src/storage/loop-numbers.ts';
import { textOf } from '../../../src/storage/shared-fs/text.ts';
import { deleted, terminating } from '../../support/decisions.ts';
import { missing, result } from '../../support/fake-executor.ts';
import { memoryLogger } from '../../support/logger.ts';
import { FILE, input, NOW, UID, volume } from '../../support/volume-input.ts';

/**
 * A Volume on a directory shared by n1 and n2 that is being deleted by n1, while n2 holds its file.
 */

const BOOT = '00000000-0000-4000-8000-000000000001';
const held = textOf('held', { node: 'n2', bootId: BOOT, token: 't0' });
const going: Volume = {
  ...volume(terminating('UnprepareVolume/1'), deleted),
  spec: { ...volume().spec, attachPolicy: 'OnDemand', attachableNodes: ['n1', 'n2'] },
};

const ANSWERS: Record<string, string | undefined> = {
  path: FILE,
  file: 'regular file|1073741824|42|0|512',
  signature: `UUID=${UID}\nTYPE=ext4`,
  loops: '{"loopdevices":[]}',
  devices: '{"blockdevices":[]}',
  mounts: `1 1 0:1 / ${FILE.replace(/\/[^/]*$/, '')} rw - nfs4 s:/x rw,hard,local_lock=none`,
  'file systems': '',
  swaps: 'Filename',
  kubelet: '/dev/null\n',
  boot: BOOT,
  holders: `\n@${FILE.replace(/.*\//, '')}.owner.4|1|${Buffer.from(held).toString('base64')}`,
};
const MISSING = ['directory', 'partial', 'link', 'intent', 'done', 'wiped', 'records'];

async function afterLook(n2: object | undefined) {
  const actions = createActionRunner(
    {
      client: {
        get: async () => {
          if (n2 === undefined)
            throw new ApiError({ apiVersion: 'v1', kind: 'Status' } as never, 404, 'GET');
          return n2 as KubeNode;
        },
      } as unknown as KubeClient,
      executor: {
        observe: async (_: string, probes: { name: string }[]) =>
          new Map(
            probes.map(({ name }) => [
              name,
              MISSING.includes(name) ? missing : result(0, ANSWERS[name] ?? ''),
            ]),
          ),
      } as unknown as Executor,
      volumeOfUid: () => undefined,
      clock: { now: () => NOW, timeOfDay: () => NOW },
      logger: memoryLogger(),
    } as unknown as ActionRunnerDeps,
    { note() {} } as unknown as ObservationTimes,
    createLoopNumbers(),
  );
  const known: VolumeFindings = { ...nothing, job: { known: { state: 'not-found' } } };
  const seen = await actions.carryOut({ do: 'observe' }, going, 'n1', known);
  expect(seen.observation).toHaveProperty('known');
  return decide(input({ volume: going, node: 'n1', ...seen }), NOW).action;
}

const taint = { spec: { taints: [{ key: OUT_OF_SERVICE_TAINT, effect: 'NoExecute' }] } };
const ready = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };

test('a file held by a node out of service is removed from another node', async () => {
  const action = await afterLook({ metadata: { name: 'n2' }, ...taint });
  if (action?.do !== 'submit') throw new Error(`no job: ${JSON.stringify(action)}`);
  expect(action.steps.map(({ argv }) => argv.join(' '))).toContain(`rm -f -- ${FILE}`);
});

test.each<[string, object | undefined]>([
  ['only silent', { metadata: { name: 'n2' } }],
  ['back, still with the taint', { metadata: { name: 'n2' }, ...taint, ...ready }],
  ['without a Node object', undefined],
])('a held file is not removed while its holder is %s', async (_, n2) => {
  const action = await afterLook(n2);
  expect(action).toMatchObject({ do: 'set-status' });
  expect(JSON.stringify(action)).toContain(`${FILE} is held by node n2`);
});
