import { expect, test } from '@jest/globals';
import type { KubeObject, Resource } from '../../../src/api/meta.ts';
import { deploymentObject } from '../../../src/cli/install/deployment.ts';
import { type InstallFlags, install } from '../../../src/cli/install/install.ts';
import {
  podRefusal,
  throwRefusal,
  withLabelsHint,
} from '../../../src/cli/install/pod-admission.ts';
import type { Io } from '../../../src/cli/lib/io.ts';
import { ApiError } from '../../../src/kube/errors.ts';
import type { KubeClient, WriteOptions } from '../../../src/kube/types.ts';
import { fakeIo } from '../../support/fake-io.ts';

const DEPLOYMENT = deploymentObject('stowage', 'stowage:test', { labels: { team: 'storage' } });

const refusal = (code: number, message: string) =>
  new ApiError({ code, message, reason: 'Forbidden' } as never, code, 'POST /pods');

/** Checks a pod with an API server that answers so; returns what was created. */
async function checked(answer: { allowed: boolean; error?: Error }, isNew = true) {
  const created: { kind: string; object: KubeObject; options: WriteOptions | undefined }[] = [];
  const client = {
    create: async (resource: Resource, object: KubeObject, options?: WriteOptions) => {
      created.push({ kind: resource.kind, object, options });
      if (resource.kind !== 'Pod') return { status: { allowed: answer.allowed } };
      if (answer.error !== undefined) throw answer.error;
      return object;
    },
  } as unknown as Pick<KubeClient, 'create'>;
  const refusal = await podRefusal(client, DEPLOYMENT, new AbortController().signal);
  throwRefusal(refusal, DEPLOYMENT, isNew);
  return created;
}

test('a pod of the Deployment is validated, and not stored', async () => {
  const [review, pod, ...more] = await checked({ allowed: true });
  expect([review?.kind, more]).toEqual(['SelfSubjectAccessReview', []]);
  expect(pod).toMatchObject({
    kind: 'Pod',
    object: {
      metadata: {
        ...{ namespace: 'stowage', labels: { team: 'storage' } },
        // Policies refuse pods without an owner, which those of a Deployment have.
        ownerReferences: [{ kind: 'ReplicaSet', controller: true, uid: expect.any(String) }],
      },
      spec: { containers: [{ image: 'stowage:test' }] },
    },
    options: { dryRun: true, namespace: 'stowage' },
  });
});

test('nothing is checked for a user who may not create pods', async () => {
  expect(await checked({ allowed: false, error: refusal(403, 'no') })).toHaveLength(1);
});

test.each([
  [403, 'pods "stowage-admission" is forbidden: failed quota: q: must specify limits.cpu'],
  [422, 'ValidatingAdmissionPolicy labels denied request'],
])(
  'a pod that the cluster refuses with %i fails, and the flags are named',
  async (code, message) => {
    await expect(checked({ allowed: true, error: refusal(code, message) })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(message),
      hint: expect.stringMatching(/--limits.*--labels/),
    });
  },
);

test.each([
  ['a webhook without dry runs', refusal(400, 'does not support dry run'), true],
  ['an error of the server', refusal(500, 'etcdserver: leader changed'), false],
  ['a lost connection', new Error('ECONNRESET'), false],
])('%s proves nothing about the pod', async (_, error, isIgnored) => {
  const done = checked({ allowed: true, error });
  await (isIgnored ? expect(done).resolves.toHaveLength(2) : expect(done).rejects.toBe(error));
});

test('a quota that the running pods use up refuses only a new Deployment', async () => {
  const error = refusal(403, 'exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1');
  expect(await checked({ allowed: true, error }, false)).toHaveLength(2);
  await expect(checked({ allowed: true, error })).rejects.toMatchObject({ code: 'conflict' });
  const missing = refusal(403, 'failed quota: q: must specify limits.cpu');
  await expect(checked({ allowed: true, error: missing }, false)).rejects.toThrow('limits.cpu');
});

test.each([
  ["ValidatingAdmissionPolicy 'team' with binding 'team' denied request: no label team", true],
  ['admission webhook "labels.example.com" denied the request: no label team', true],
  ['clusterroles is forbidden: User "x" cannot create resource', false],
])('the refusal %j of a policy alone names --labels', async (message, isPolicy) => {
  const hint = isPolicy ? expect.stringContaining('--labels') : undefined;
  await expect(withLabelsHint(Promise.reject(refusal(422, message)))).rejects.toMatchObject({
    ...{ message, ...(isPolicy && { hint }) },
  });
  if (isPolicy) return;
  const error = refusal(403, message);
  await expect(withLabelsHint(Promise.reject(error))).rejects.toBe(error);
});

test('the pod is checked before the Deployment has pods that a quota counts', async () => {
  const made: string[] = [];
  const client = {
    get: async () => {
      throw new ApiError({ code: 404, reason: 'NotFound' } as never, 404, 'GET');
    },
    list: async () => ({ items: [], metadata: {} }),
    create: async ({ kind }: Resource, object: KubeObject, options?: WriteOptions) => {
      if (kind === 'SelfSubjectAccessReview') return { status: { allowed: true } };
      if (kind === 'Pod' || (kind === 'Deployment' && !options?.dryRun)) made.push(kind);
      if (kind === 'Pod') throw refusal(403, 'exceeded quota: q, requested: pods=1');
      return object;
    },
  } as unknown as KubeClient;
  const { io } = fakeIo();
  const flags: InstallFlags = { components: ['rbac', 'deployment'], dryRun: 'none' };
  await expect(install(flags, io as Io, async () => client)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('is installed, but the cluster refuses its pods'),
  });
  expect(made).toEqual(['Pod', 'Deployment']);
});
