import { describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../../src/api/meta.ts';
import { VERSION } from '../../../src/api/version.ts';
import { asCreated, changeOf, isNewer, RECREATE } from '../../../src/cli/install/change.ts';
import { wantedObjects } from '../../../src/cli/install/objects.ts';
import type { Wanted } from '../../../src/cli/install/wanted.ts';
import { COMPONENTS } from '../../../src/cli/lib/components.ts';

/**
 * Returns a copy with prototypes of this realm, as parsed objects have, unlike those of
 * structuredClone.
 */
const copyOf = <T>(object: T): T => JSON.parse(JSON.stringify(object));
const all = wantedObjects({ components: COMPONENTS, namespace: 'stowage', image: 'stowage:test' });
const of = (kind: string): Wanted => {
  const found = all.find(({ object }) => object.kind === kind);
  if (found === undefined) throw new Error(`no ${kind}`);
  return found;
};
/** Returns the object after its creation, with changes. */
const there = (
  wanted: Wanted,
  change: (object: KubeObject & { spec?: unknown }) => void = () => {},
) => {
  const object = copyOf(asCreated(wanted));
  change(object);
  return object;
};

test.each(all.map((wanted) => [wanted.object.kind, wanted] as const))(
  'changeOf returns no change for an unchanged %s',
  (_, wanted) => {
    expect(changeOf(there(wanted), wanted)).toBeUndefined();
  },
);

describe('a Deployment', () => {
  const deployment = of('Deployment');
  // biome-ignore lint/suspicious/noExplicitAny: deep into a pod.
  const specOf = (object: KubeObject) => (object as any).spec;

  test('keeps fields that others set, and restores those of Stowage', () => {
    const current = there(deployment, (object) => {
      object.metadata.labels = { ...object.metadata.labels, team: 'storage' };
      const spec = specOf(object);
      spec.replicas = 3;
      spec.template.spec.tolerations = [{ operator: 'Exists' }];
      spec.template.spec.containers[0].env = [{ name: 'TZ', value: 'UTC' }];
      spec.template.spec.containers[0].image = 'other';
      spec.template.spec.containers.unshift({ name: 'sidecar', image: 'x' });
    });
    const change = changeOf(current, deployment) as { spec: object };
    expect(change).toEqual({
      spec: {
        template: {
          spec: {
            containers: [
              { name: 'sidecar', image: 'x' },
              expect.objectContaining({
                name: 'stowage',
                image: 'stowage:test',
                env: [{ name: 'TZ', value: 'UTC' }],
              }),
            ],
          },
        },
      },
    });
  });

  test('loses fields that an earlier install set and this one does not', () => {
    const earlier = copyOf(deployment.object);
    specOf(earlier).template.spec.volumes.push({ name: 'cache', emptyDir: {} });
    specOf(earlier).minReadySeconds = 5;
    const current = there({ ...deployment, object: earlier });
    const change = changeOf(current, deployment) as { spec: unknown };
    expect(change.spec).toEqual({
      minReadySeconds: null,
      template: { spec: { volumes: specOf(deployment.object).template.spec.volumes } },
    });
  });

  test.each([
    ['made by hand', undefined],
    ['with a damaged record', '{'],
  ])('%s is taken over', (_, record) => {
    const current = there(deployment, ({ metadata }) => {
      delete metadata.annotations;
      if (record === undefined) delete metadata.labels;
      else metadata.annotations = { 'stowage.dev/last-installed': record };
    });
    const change = changeOf(current, deployment) as KubeObject;
    expect(Object.keys(change)).toEqual(['metadata']);
  });
});

describe('a change of an immutable field', () => {
  const deployment = of('Deployment');
  // biome-ignore lint/suspicious/noExplicitAny: deep into an object.
  const otherSelector = (object: any) => {
    object.spec.selector.matchLabels = { app: 'x' };
  };
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  const otherRole = (object: any) => {
    object.roleRef.name = 'other';
  };
  const unclaimed = (object: KubeObject) => {
    delete object.metadata.labels;
  };
  const binding = of('ClusterRoleBinding');

  test.each([
    ['managed by Stowage', () => {}],
    ['not managed by anybody', unclaimed],
  ])('is refused for the selector of a Deployment that is %s', (_, claim) => {
    const current = there(deployment, (object) => {
      otherSelector(object);
      claim(object);
    });
    expect(() => changeOf(current, deployment)).toThrow(
      expect.objectContaining({
        code: 'conflict',
        hint: 'If it is not needed, delete it, then install again: kubectl delete deployment.apps/stowage -n stowage --cascade=foreground; or keep it, and install into another namespace with -n',
      }),
    );
  });

  test.each(['ClusterRoleBinding', 'RoleBinding'])(
    'recreates a %s of Stowage to change its role',
    (kind) => {
      expect(changeOf(there(of(kind), otherRole), of(kind))).toBe(RECREATE);
    },
  );

  test('is refused for the role of an unlabeled binding', () => {
    const current = there(binding, (object) => {
      otherRole(object);
      unclaimed(object);
    });
    expect(() => changeOf(current, binding)).toThrow(
      expect.objectContaining({
        code: 'conflict',
        hint: expect.stringMatching(
          /kubectl delete clusterrolebinding.rbac.authorization.k8s.io\/stowage$/,
        ),
      }),
    );
  });
});

describe('changeOf', () => {
  const role = of('ClusterRole');

  test('refuses an object that another tool manages', () => {
    const current = there(role, ({ metadata }) => {
      metadata.labels = { 'app.kubernetes.io/managed-by': 'Helm' };
    });
    expect(() => changeOf(current, role)).toThrow(
      expect.objectContaining({
        code: 'conflict',
        message: expect.stringContaining('managed by Helm'),
      }),
    );
  });

  test('refuses an object that is being deleted', () => {
    const current = there(of('Namespace'), ({ metadata }) => {
      metadata.deletionTimestamp = '2030-01-01T00:00:00Z';
    });
    expect(() => changeOf(current, of('Namespace'))).toThrow('namespace/stowage is being deleted');
  });

  test('refuses an object that a newer Stowage installed', () => {
    const current = there(role, ({ metadata }) => {
      metadata.labels = { ...metadata.labels, 'app.kubernetes.io/version': '99.0.0' };
    });
    expect(() => changeOf(current, role)).toThrow(
      `was installed by Stowage 99.0.0; this is ${VERSION}`,
    );
  });

  test('leaves an existing Namespace unchanged', () => {
    const current = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'stowage' } };
    expect(changeOf(current, of('Namespace'))).toBeUndefined();
  });
});

describe('a CustomResourceDefinition', () => {
  const definition = of('CustomResourceDefinition');
  // biome-ignore lint/suspicious/noExplicitAny: deep into a definition.
  const specOf = (object: KubeObject) => (object as any).spec;
  const older = (change: (spec: ReturnType<typeof specOf>) => void = () => {}) =>
    there(definition, (object) => {
      const spec = specOf(object);
      spec.versions[0].schema = { openAPIV3Schema: { type: 'object' } };
      spec.conversion = { strategy: 'None' };
      change(spec);
    });

  test('gets the whole schema of Stowage, and keeps fields that others set', () => {
    const change = changeOf(older(), definition) as { spec: object };
    expect(change).toEqual({ spec: { versions: specOf(definition.object).versions } });
  });

  test('keeps versions that objects may be stored in', () => {
    const v1alpha0 = { name: 'v1alpha0', served: false, storage: false, schema: {} };
    const change = changeOf(
      older((spec) => spec.versions.push(v1alpha0)),
      definition,
    ) as { spec: object };
    expect(change).toEqual({
      spec: { versions: [...specOf(definition.object).versions, v1alpha0] },
    });
  });

  test('is refused if objects are stored in an unknown version', () => {
    const current = older((spec) => {
      spec.versions[0].storage = false;
      spec.versions.push({ name: 'v1', served: true, storage: true, schema: {} });
    });
    expect(() => changeOf(current, definition)).toThrow(
      'Volumes are stored as v1, which this version',
    );
  });

  test('published by MetalK8s gets the schema of Stowage, and keeps its labels', () => {
    const current = older();
    current.metadata.labels = {
      'app.kubernetes.io/managed-by': 'salt',
      'app.kubernetes.io/version': '2.0',
    };
    expect(Object.keys(changeOf(current, definition) ?? {})).toEqual(['spec']);
  });

  test('published by MetalK8s without labels gets none', () => {
    const current = older();
    delete current.metadata.labels;
    expect(Object.keys(changeOf(current, definition) ?? {})).toEqual(['spec']);
  });
});

test.each([
  ['1.0.0', '0.9.9', true],
  ['0.10.0', '0.9.0', true],
  ['0.9.0', '0.10.0', false],
  ['1.2.3', '1.2.3', false],
  ['1.2.3-rc.1', '1.2.3', false],
  ['main', '1.0.0', false],
])('%s is newer than %s: %s', (version, than, newer) => {
  expect(isNewer(version, than)).toBe(newer);
});
