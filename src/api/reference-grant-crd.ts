import { AGE, root, standardCrd } from './standard-crd.ts';

const group = {
  type: 'string',
  maxLength: 253,
  pattern: '^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
  description: 'Its API group, without a version; empty for the core group.',
};
const kind = {
  type: 'string',
  minLength: 1,
  maxLength: 63,
  pattern: '^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$',
  description: 'Its kind.',
};

const entries = (description: string, required: string[], properties: Record<string, object>) => ({
  type: 'array',
  description,
  minItems: 1,
  maxItems: 16,
  'x-kubernetes-list-type': 'atomic',
  items: { type: 'object', required, properties },
});

const schema = root('Lets objects of other namespaces refer to objects of this one.', [], {
  spec: {
    type: 'object',
    description: 'Who may refer to what: each of `from` to each of `to`.',
    required: ['from', 'to'],
    properties: {
      from: entries('Who may refer.', ['group', 'kind', 'namespace'], {
        group,
        kind,
        namespace: {
          type: 'string',
          minLength: 1,
          maxLength: 63,
          pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
          description: 'Its namespace.',
        },
      }),
      to: entries('To what, in the namespace of this grant.', ['group', 'kind'], {
        group,
        kind,
        name: {
          type: 'string',
          minLength: 1,
          maxLength: 253,
          description: 'Its name; absent: all of the kind.',
        },
      }),
    },
  },
});

/** Of ReferenceGrant, as kubernetes-sigs/gateway-api has it since 1.5: in v1, too, and stored as v1beta1. */
export const REFERENCE_GRANT_CRD = standardCrd({
  group: 'gateway.networking.k8s.io',
  scope: 'Namespaced',
  names: {
    kind: 'ReferenceGrant',
    plural: 'referencegrants',
    singular: 'referencegrant',
    shortNames: ['refgrant'],
    categories: ['gateway-api'],
  },
  approved: 'https://github.com/kubernetes-sigs/gateway-api/pull/4530',
  versions: [
    { name: 'v1', storage: false, columns: [AGE], schema },
    { name: 'v1beta1', storage: true, columns: [AGE], schema },
  ],
});
