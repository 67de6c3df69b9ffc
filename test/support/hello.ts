import type { KubeObject, Resource } from '../../src/api/meta.ts';
import type { PopulatorDefinition, VolumePopulator } from '../../src/api/populator.ts';

/** Kind of KEP-1495's e2e tests. An object names the initial file of a volume, and its content. */
export const HELLOS: Resource = {
  group: 'hello.example.com',
  version: 'v1alpha1',
  plural: 'hellos',
  kind: 'Hello',
  namespaced: true,
};

/** Returns the resource of another group: another kind. */
export const hellosOf = (group: string): Resource => ({ ...HELLOS, group });

export const helloCrd = (group: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `hellos.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind: 'Hello', listKind: 'HelloList', plural: 'hellos', singular: 'hello' },
    versions: [
      {
        name: HELLOS.version,
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['fileName', 'fileContents'],
                properties: { fileName: { type: 'string' }, fileContents: { type: 'string' } },
              },
            },
          },
        },
      },
    ],
  },
});
export const HELLO_CRD = helloCrd(HELLOS.group);

export const hello = (
  name: string,
  namespace: string,
  fileContents = 'Hello, world!',
  group = HELLOS.group,
): KubeObject =>
  ({
    apiVersion: `${group}/${HELLOS.version}`,
    kind: 'Hello',
    metadata: { name, namespace },
    spec: { fileName: 'hello.txt', fileContents },
  }) as KubeObject;

export const HELLO_POPULATOR: VolumePopulator = {
  apiVersion: 'populator.storage.k8s.io/v1beta1',
  kind: 'VolumePopulator',
  metadata: { name: 'hello' },
  sourceKind: { group: HELLOS.group, kind: HELLOS.kind },
};

export const HELLO_DEFINITION: PopulatorDefinition = {
  apiVersion: 'stowage.dev/v1alpha1',
  kind: 'PopulatorDefinition',
  metadata: { name: 'hello' },
  spec: {
    sourceKind: HELLO_POPULATOR.sourceKind,
    resource: { version: HELLOS.version, plural: HELLOS.plural, scope: 'Namespaced' },
    pod: {
      image: 'localhost/busybox:test',
      command: ['sh', '-c', 'printf "%s\\n" "$2" >"$1"', 'hello'],
      args: ['/target/{.spec.fileName}', '{.spec.fileContents}'],
      mountPath: '/target',
    },
  },
};

export const helloReference = (name: string, namespace?: string, apiGroup = HELLOS.group) => ({
  apiGroup,
  kind: HELLOS.kind,
  name,
  ...(namespace === undefined ? {} : { namespace }),
});
