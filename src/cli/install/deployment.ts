import { COMPONENT, INSTALL_VALUES_ANNOTATION } from '../../api/names.ts';
import { DEPLOYMENTS } from '../../api/resources.ts';
import { labelsOf, NAME_LABEL } from '../lib/objects/installed-labels.ts';
import { type NodeAccess, nodeAccess } from './node-access.ts';
import type { Values } from './values.ts';
import { type Wanted, wanted } from './wanted.ts';

/** A user without any rights, as images without a distribution have it ("nonroot"). */
const USER = 65532;
/** Port for probes and metrics. */
export const PORT = 8080;
/** The daemon takes up to 35 s to end what it does and to let go of its Lease; killed before, the next one waits for that. */
const GRACE_SECONDS = 45;

/**
 * The daemon. How many replicas there are, and where its pods run, is said where somebody asked for it: else Kubernetes makes one,
 * and whoever changes that keeps what they set. `image` as container runtimes take it.
 */
export function deploymentObject(namespace: string, image: string, values: Values = {}): Wanted {
  const selector = { [NAME_LABEL]: COMPONENT };
  const { replicas, nodeSelector } = values;
  const access = nodeAccess(namespace, values);
  const kept = Object.keys(values).length > 0;
  return wanted(DEPLOYMENTS, 'deployment', {
    metadata: {
      name: COMPONENT,
      namespace,
      labels: labelsOf('deployment'),
      ...(kept && { annotations: { [INSTALL_VALUES_ANNOTATION]: JSON.stringify(values) } }),
    },
    spec: {
      ...(replicas === undefined ? {} : { replicas }),
      // Two at once are no harm, for one leads; but the next need not wait for the readiness of one that only follows.
      strategy: { type: 'Recreate' },
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: selector },
        spec: {
          serviceAccountName: COMPONENT,
          terminationGracePeriodSeconds: GRACE_SECONDS,
          // Nodes are reached under their names, which their own resolvers know.
          dnsPolicy: 'Default',
          ...(nodeSelector === undefined ? {} : { nodeSelector }),
          securityContext: {
            runAsNonRoot: true,
            runAsUser: USER,
            runAsGroup: USER,
            // Lets the daemon read its key. To ssh that is no key of its own user's, so that the group's right is no offence.
            fsGroup: USER,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: selector },
            },
          ],
          containers: [container(namespace, image, values, access)],
          volumes: [
            ...access.volumes,
            // For the sockets of ssh.
            { name: 'tmp', emptyDir: {} },
          ],
        },
      },
    },
  });
}

const container = (namespace: string, image: string, values: Values, access: NodeAccess) => ({
  name: COMPONENT,
  image,
  args: [
    'watch',
    `--namespace=${namespace}`,
    '--leader-election',
    `--http-endpoint=:${PORT}`,
    ...access.args,
    ...asked(values),
  ],
  ports: [{ name: 'http', containerPort: PORT }],
  livenessProbe: {
    httpGet: { path: '/healthz', port: 'http' },
    periodSeconds: 10,
    failureThreshold: 6,
  },
  readinessProbe: { httpGet: { path: '/readyz', port: 'http' }, periodSeconds: 5 },
  resources: {
    requests: { cpu: '50m', memory: '128Mi', ...values.requests },
    limits: { memory: '512Mi', ...values.limits },
  },
  securityContext: {
    allowPrivilegeEscalation: false,
    privileged: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
  volumeMounts: [...access.mounts, { name: 'tmp', mountPath: '/tmp' }],
});

function asked({ controllers, featureGates, crossNamespaceSnapshot, logLevel }: Values): string[] {
  const gates = Object.entries(featureGates ?? {}).map(([gate, isOn]) => `${gate}=${isOn}`);
  return [
    ...(controllers === undefined ? [] : [`--controllers=${controllers}`]),
    ...(gates.length === 0 ? [] : [`--feature-gates=${gates.join(',')}`]),
    ...(crossNamespaceSnapshot === undefined
      ? []
      : [`--cross-namespace-snapshot=${crossNamespaceSnapshot}`]),
    ...(logLevel === 'debug' ? ['--verbose'] : []),
  ];
}
