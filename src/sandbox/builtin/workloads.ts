import { isDeepStrictEqual } from 'node:util';
import type { Cause, Kind, StoredObject } from '../kind.ts';
import { invalidValue, requiredValue } from '../refusal.ts';
import { decodeMicroTimes } from './decode.ts';
import { type Fields, immutable, plain, specOf } from './plain.ts';
import { fill, fillPodDefaults, podCauses } from './pod-defaults.ts';

interface DeploymentSpec {
  selector?: null | { matchLabels?: Record<string, string>; matchExpressions?: unknown[] };
  template?: { metadata?: { labels?: Record<string, string> }; spec?: Fields };
}

interface NetworkPolicySpec {
  policyTypes?: string[];
  ingress?: { ports?: { protocol?: string }[] }[];
  egress?: { ports?: { protocol?: string }[] }[];
}

export const WORKLOAD_KINDS: Kind[] = [
  {
    ...plain,
    group: 'apps',
    plural: 'deployments',
    singular: 'deployment',
    kind: 'Deployment',
    namespaced: true,
    shortNames: ['deploy'],
    categories: ['all'],
    statusSubresource: true,
    generations: true,
    fillDefaults(object) {
      const spec = {
        replicas: 1,
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
        ...specOf(object),
      };
      object.spec = spec;
      const { strategy = {} } = spec as { strategy?: Fields };
      fill(strategy, { type: 'RollingUpdate' });
      if (strategy.type === 'RollingUpdate')
        fill(strategy, { rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } });
      Object.assign(spec, { strategy });
      fillPodDefaults((specOf(object) as DeploymentSpec).template?.spec);
    },
    /** Clears the status. No controller acts on a Deployment, so no pods are created. */
    prepare(object) {
      object.status = {};
    },
    validate: (object, old) => [
      ...deploymentCauses(object),
      ...(old ? selectorChange(object, old) : []),
    ],
  },
  {
    ...plain,
    group: 'coordination.k8s.io',
    plural: 'leases',
    singular: 'lease',
    kind: 'Lease',
    namespaced: true,
    fillDefaults: (object) => decodeMicroTimes(object, object.spec, ['acquireTime', 'renewTime']),
    validate: (object) => leaseCauses(object),
  },
  {
    ...plain,
    group: 'networking.k8s.io',
    plural: 'networkpolicies',
    singular: 'networkpolicy',
    kind: 'NetworkPolicy',
    namespaced: true,
    shortNames: ['netpol'],
    generations: true,
    fillDefaults: networkDefaults,
  },
];

/** Fills the API server's defaults. Nothing enforces a policy: no pods run. */
function networkDefaults(object: StoredObject): void {
  const spec = specOf(object) as NetworkPolicySpec;
  spec.policyTypes ??= spec.egress === undefined ? ['Ingress'] : ['Ingress', 'Egress'];
  for (const rule of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
    for (const port of rule.ports ?? []) port.protocol ??= 'TCP';
  }
}

function deploymentCauses(object: StoredObject): Cause[] {
  const { selector, template } = specOf(object) as DeploymentSpec;
  const labels = template?.metadata?.labels ?? {};
  const wanted = Object.entries(selector?.matchLabels ?? {});
  if (selector && wanted.length === 0 && !selector.matchExpressions?.length)
    return [
      invalidValue(
        'spec.selector',
        JSON.stringify(selector),
        'empty selector is invalid for deployment',
      ),
    ];
  const { replicas = 0 } = specOf(object) as { replicas?: number };
  return [
    ...(replicas < 0
      ? [invalidValue('spec.replicas', String(replicas), 'must be greater than or equal to 0')]
      : []),
    ...(selector ? [] : [requiredValue('spec.selector')]),
    ...(selector && wanted.every(([key, value]) => labels[key] === value)
      ? []
      : [
          invalidValue(
            'spec.template.metadata.labels',
            JSON.stringify(labels),
            '`selector` does not match template `labels`',
          ),
        ]),
    ...podCauses(template?.spec, 'spec.template.spec'),
  ];
}

function selectorChange(object: StoredObject, old: StoredObject): Cause[] {
  const { selector } = specOf(object);
  return isDeepStrictEqual(selector, specOf(old).selector)
    ? []
    : [immutable('spec.selector', selector)];
}

function leaseCauses(object: StoredObject): Cause[] {
  const { leaseDurationSeconds: duration, leaseTransitions: transitions } = specOf(object);
  return [
    ...(duration === undefined || Number(duration) > 0
      ? []
      : [invalidValue('spec.leaseDurationSeconds', String(duration), 'must be greater than 0')]),
    ...(transitions === undefined || Number(transitions) >= 0
      ? []
      : [
          invalidValue(
            'spec.leaseTransitions',
            String(transitions),
            'must be greater than or equal to 0',
          ),
        ]),
  ];
}
