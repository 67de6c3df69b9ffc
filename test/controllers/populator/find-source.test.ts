import { expect, test } from '@jest/globals';
import type { KubeObject } from '../../../src/api/meta.ts';
import type { ReasonCode } from '../../../src/api/reasons.ts';
import { findSource, type SourceDeps } from '../../../src/controllers/populator/find-source.ts';
import { ApiError } from '../../../src/kube/errors.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { hello, helloReference } from '../../support/hello.ts';
import { claim, definition } from './input.ts';

const failure = (code: number, details: object = { name: 'example' }) =>
  new ApiError(
    { apiVersion: 'v1', kind: 'Status', status: 'Failure', message: 'refused', code, details },
    code,
    'GET',
  );

/** Creates dependencies that record their requests in order. */
const asking = (answer: KubeObject | Error, more: Partial<SourceDeps> = {}) => {
  const asked: string[] = [];
  const deps: SourceDeps = {
    client: {
      async get(resource, name, { namespace } = {}) {
        asked.push(`${resource.plural} ${namespace ?? '-'}/${name}`);
        if (answer instanceof Error) throw answer;
        return answer as never;
      },
    } as Pick<KubeClient, 'get'>,
    crossNamespace: true,
    async isGranted({ from, to }) {
      asked.push(
        `grant ${from.kind}/${from.namespace} ${to.kind}.${to.group} ${to.namespace}/${to.name}`,
      );
      return false;
    },
    ...more,
  };
  return { asked, deps };
};

const own = claim();
const cross = claim({ spec: { dataSourceRef: helloReference('example', 'prod') } });
const cluster = {
  ...definition,
  spec: {
    ...definition.spec,
    resource: { ...definition.spec.resource, scope: 'Cluster' as const },
  },
};

test('a source is read in the namespace of the claim', async () => {
  const { asked, deps } = asking(hello('example', 'default'));
  expect(await findSource(own, definition, deps)).toMatchObject({
    is: 'ready',
    object: { kind: 'Hello' },
  });
  expect(asked).toEqual(['hellos default/example']);
});

test('a cluster-scoped source is read without a namespace', async () => {
  const { asked, deps } = asking(hello('example', 'default'));
  expect(await findSource(own, cluster, deps)).toMatchObject({ is: 'ready' });
  expect(asked).toEqual(['hellos -/example']);
});

test('a source in another namespace is read only after a grant was found', async () => {
  const { asked, deps } = asking(hello('example', 'prod'));
  expect(await findSource(cross, definition, deps)).toMatchObject({
    is: 'waits',
    event: {
      reason: 'PopulatorDataSourceRefused',
      message:
        "accessing prod/example of Hello dataSource from default/data isn't allowed. Create a ReferenceGrant in namespace prod, from PersistentVolumeClaim in default to Hello of group hello.example.com",
      detail: { code: 'GrantMissing', parameters: { namespace: 'prod', kind: 'Hello' } },
    },
  });
  expect(asked).toEqual([
    'grant PersistentVolumeClaim/default Hello.hello.example.com prod/example',
  ]);
  const granted = asking(hello('example', 'prod'), { isGranted: async () => true });
  expect(await findSource(cross, definition, granted.deps)).toMatchObject({ is: 'ready' });
  expect(granted.asked).toEqual(['hellos prod/example']);
});

test.each<
  [
    string,
    Parameters<typeof findSource>[0],
    typeof definition,
    Partial<SourceDeps>,
    string,
    ReasonCode,
  ]
>([
  [
    'with the gate off',
    cross,
    definition,
    { crossNamespace: false },
    'CrossNamespaceVolumeDataSource',
    'PopulatorGateOff',
  ],
  [
    'if its kind is cluster-scoped',
    cross,
    cluster,
    {},
    'is cluster-scoped, and the claim names namespace prod',
    'SourceNotNamespaced',
  ],
])('a source in another namespace is refused %s, before any request', async (_, ...row) => {
  const [it, of, more, why, code] = row;
  const { asked, deps } = asking(hello('example', 'prod'), more);
  expect(await findSource(it, of, deps)).toMatchObject({
    is: 'waits',
    event: { message: expect.stringContaining(why), detail: { code } },
  });
  expect(asked).toEqual([]);
});

test.each<[string, KubeObject | Error, string, ReasonCode]>([
  [
    'does not exist',
    failure(404),
    'PopulatorDataSourceNotFound: Hello default/example does not exist',
    'SourceMissing',
  ],
  [
    'has a kind that is not served',
    failure(404, {}),
    'PopulatorDataSourceRefused: PopulatorDefinition hello names hellos',
    'KindNotServed',
  ],
  [
    'may not be read',
    failure(403),
    'PopulatorDataSourceRefused: the daemon may not read hellos of group hello.example.com',
    'KindForbidden',
  ],
  [
    'is being deleted',
    { ...hello('example', 'default'), metadata: { name: 'example', deletionTimestamp: 'x' } },
    'PopulatorDataSourceNotFound: Hello default/example is being deleted',
    'SourceBeingDeleted',
  ],
])('the claim waits for a source that %s', async (_, answer, told, code) => {
  const found = await findSource(own, definition, asking(answer).deps);
  if (found.is !== 'waits') throw new Error('it is ready');
  expect(`${found.event.reason}: ${found.event.message}`).toContain(told);
  expect(found.event.detail?.code).toBe(code);
});

test('a server error is thrown, so that the reconcile is retried', async () => {
  await expect(findSource(own, definition, asking(failure(500)).deps)).rejects.toThrow('refused');
});
