import { STOWAGE_GROUP, STOWAGE_VERSION } from './names.ts';
import { BUILTINS } from './populator.ts';
import { AGE, column, oneOf, root, string } from './standard-crd.ts';

const text = (description: string, maxLength: number, pattern?: string) => ({
  ...string(description),
  minLength: 1,
  maxLength,
  ...(pattern === undefined ? {} : { pattern }),
});
/** Of volumes in containers, as the API server wants it. */
const PATH = '^/[^:]*$';
const SUBDOMAIN = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$';
const LABEL = '^[a-z]([-a-z0-9]*[a-z0-9])?$';

/** `$` right before a field would make one of `$(NAME)` of what the field holds, which the kubelet replaces. */
const NO_DOLLAR = {
  rule: `!self.contains('\${.')`,
  message: "no '$' may stand right before a field of the data source",
};

const templates = (description: string) => ({
  type: 'array',
  description,
  maxItems: 100,
  items: { type: 'string', maxLength: 4096, 'x-kubernetes-validations': [NO_DOLLAR] },
});

const quantities = (description: string) => ({
  type: 'object',
  description,
  maxProperties: 20,
  additionalProperties: {
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    'x-kubernetes-int-or-string': true,
  },
});

const pod = {
  type: 'object',
  description:
    'A pod that fills a volume. In args and values of env, fields of the data source stand as {.spec.fileName}.',
  required: ['image'],
  'x-kubernetes-validations': [
    {
      rule: 'has(self.mountPath) || has(self.devicePath)',
      message: 'at least one of mountPath and devicePath must be set',
    },
  ],
  properties: {
    image: text('The image of its container.', 1024),
    imagePullPolicy: {
      type: 'string',
      enum: ['Always', 'IfNotPresent', 'Never'],
      description: 'As of any container.',
    },
    command: {
      ...templates('Its entry point; no fields of the data source.'),
      items: { type: 'string', maxLength: 4096 },
    },
    args: templates('Its arguments; each stays one, whatever the data source holds.'),
    env: {
      type: 'array',
      description: 'Its environment.',
      maxItems: 100,
      items: {
        type: 'object',
        required: ['name'],
        'x-kubernetes-validations': [
          {
            rule: 'has(self.value) != has(self.secret)',
            message: 'exactly one of value and secret must be set',
          },
        ],
        properties: {
          name: text('The name of the variable.', 256),
          value: { type: 'string', maxLength: 4096, 'x-kubernetes-validations': [NO_DOLLAR] },
          secret: {
            type: 'object',
            description: "A value of a Secret of the daemon's namespace.",
            required: ['name', 'key'],
            properties: {
              name: text('The Secret.', 253, SUBDOMAIN),
              key: text('The key in it.', 253, '^[-._a-zA-Z0-9]+$'),
            },
          },
        },
      },
    },
    serviceAccountName: text(
      "Of the daemon's namespace; absent: the pod has no token.",
      253,
      SUBDOMAIN,
    ),
    secrets: {
      type: 'array',
      description: "Secrets of the daemon's namespace that it has as folders of files.",
      maxItems: 20,
      items: {
        type: 'object',
        required: ['name', 'mountPath'],
        properties: {
          name: text('The Secret.', 253, SUBDOMAIN),
          mountPath: text('Where it is in the container.', 1024, PATH),
        },
      },
    },
    resources: {
      type: 'object',
      description: 'Of its container.',
      properties: {
        requests: quantities('What it is promised.'),
        limits: quantities('What it gets at most.'),
      },
    },
    mountPath: text(
      'Where a volume of mode Filesystem is in the container; absent: none are filled.',
      1024,
      PATH,
    ),
    devicePath: text(
      'Where a volume of mode Block is in the container; absent: none are filled.',
      1024,
      PATH,
    ),
  },
} as const;

/** The CustomResourceDefinition (apiextensions.k8s.io/v1) of PopulatorDefinition. */
export const POPULATOR_DEFINITION_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `populatordefinitions.${STOWAGE_GROUP}` },
  spec: {
    group: STOWAGE_GROUP,
    scope: 'Cluster',
    names: {
      kind: 'PopulatorDefinition',
      listKind: 'PopulatorDefinitionList',
      plural: 'populatordefinitions',
      singular: 'populatordefinition',
      shortNames: ['popdef'],
    },
    versions: [
      {
        name: STOWAGE_VERSION,
        served: true,
        storage: true,
        additionalPrinterColumns: [
          column('Kind', '.spec.sourceKind.kind'),
          column('Group', '.spec.sourceKind.group'),
          column('Image', '.spec.pod.image'),
          column('Builtin', '.spec.node.builtin'),
          AGE,
        ],
        schema: {
          openAPIV3Schema: root('How volumes are filled from objects of a kind.', ['spec'], {
            spec: {
              type: 'object',
              description: 'From what, and by what.',
              required: ['sourceKind', 'resource'],
              'x-kubernetes-validations': [
                oneOf('pod', 'node'),
                // A claim that one of them has begun to fill would be filled by the other, too, and have two volumes.
                {
                  rule: 'has(self.pod) == has(oldSelf.pod)',
                  message:
                    'pod and node do not replace each other: unregister the kind, then register it anew',
                },
              ],
              properties: {
                sourceKind: {
                  type: 'object',
                  description: 'What spec.dataSourceRef of a claim names.',
                  required: ['group', 'kind'],
                  'x-kubernetes-validations': [
                    { rule: 'self == oldSelf', message: 'sourceKind is immutable' },
                    {
                      rule: "self.group != 'snapshot.storage.k8s.io'",
                      message: 'snapshots are restored by what took them',
                    },
                  ],
                  properties: {
                    group: text('Its API group, without a version.', 253, SUBDOMAIN),
                    kind: text('Its kind.', 63, '^[A-Za-z][A-Za-z0-9]*$'),
                  },
                },
                resource: {
                  type: 'object',
                  description: 'Where the API server has objects of the kind.',
                  required: ['version', 'plural'],
                  properties: {
                    version: text('A version that is served, such as v1.', 63, LABEL),
                    plural: text('As in the path of requests.', 63, LABEL),
                    scope: {
                      type: 'string',
                      enum: ['Namespaced', 'Cluster'],
                      default: 'Namespaced',
                      description: 'Whether they are in namespaces.',
                    },
                  },
                },
                pod,
                node: {
                  type: 'object',
                  description: 'Volumes of Stowage are filled on their node, without a pod.',
                  required: ['builtin'],
                  properties: {
                    builtin: {
                      type: 'string',
                      enum: [...BUILTINS],
                      description:
                        'What fills them; objects of the kind have the fields of its own.',
                    },
                  },
                },
              },
            },
          }),
        },
      },
    ],
  },
};
