import { COMPONENT, INSTALL_VALUES_ANNOTATION } from '../../api/names.ts';
import { DEPLOYMENTS } from '../../api/resources.ts';
import { labelsOf, NAME_LABEL } from '../lib/objects/installed-labels.ts';
import { type NodeAccess, nodeAccess } from './node-access.ts';
import type { Values } from './values.ts';
import { type Wanted, wanted } from './wanted.ts';

/** Port for probes and metrics. */
export const PORT = 8080;
/**
 * The daemon takes up to 35 s to finish work and release its Lease. After a kill, the next one
 * waits until the Lease expires.
 */
const GRACE_SECONDS = 45;

/**
 * Returns the daemon's Deployment. Sets replicas and node selector only if requested: otherwise
 * Kubernetes defaults to one, and changes by others stay. `image` is in the form that container
 * runtimes accept.
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
      // Two pods at once do no harm, as only one leads. Yet a new pod need not wait until one that
      // only follows is ready.
      strategy: { type: 'Recreate' },
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: { ...values.labels, ...selector } },
        spec: {
          serviceAccountName: COMPONENT,
          terminationGracePeriodSeconds: GRACE_SECONDS,
          // Nodes are reached by their names, which the resolvers of the nodes know.
          dnsPolicy: 'Default',
          ...(nodeSelector === undefined ? {} : { nodeSelector }),
          // The image sets an unprivileged user. Some clusters, such as OpenShift, assign another
          // one to the namespace, and refuse pods that name a user or a group.
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: selector },
            },
          ],
          ...(access.needsUser && { initContainers: [userContainer(image, values)] }),
          containers: [container(namespace, image, values, access)],
          volumes: [
            ...access.volumes,
            // For the sockets of ssh.
            { name: 'tmp', emptyDir: {} },
            ...(access.needsUser ? [{ name: 'user', emptyDir: {} }] : []),
          ],
        },
      },
    },
  });
}

const UNPRIVILEGED = {
  allowPrivilegeEscalation: false,
  privileged: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

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
  resources: resourcesOf(values),
  securityContext: UNPRIVILEGED,
  volumeMounts: [
    ...access.mounts,
    { name: 'tmp', mountPath: '/tmp' },
    ...(access.needsUser
      ? [{ name: 'user', mountPath: '/etc/passwd', subPath: 'passwd', readOnly: true }]
      : []),
  ],
});

/** Directory in which the first container writes an /etc/passwd. */
const USER_DIRECTORY = '/run/stowage-user';

/**
 * Returns the container that writes the pod's user into a file, which is /etc/passwd of the daemon.
 * OpenSSH exits without an entry for its user ID, which the cluster may assign when it admits the
 * pod. The daemon itself cannot change its file.
 */
const userContainer = (image: string, values: Values) => ({
  name: 'user',
  image,
  command: [
    'sh',
    '-c',
    `echo "${COMPONENT}:x:$(id -u):$(id -g)::/nonexistent:/usr/sbin/nologin" >${USER_DIRECTORY}/passwd`,
  ],
  // A quota may demand them of each container. The pod needs no more than its largest container.
  resources: resourcesOf(values),
  securityContext: UNPRIVILEGED,
  volumeMounts: [{ name: 'user', mountPath: USER_DIRECTORY }],
});

const resourcesOf = ({ requests, limits }: Values) => ({
  requests: { cpu: '50m', memory: '128Mi', ...requests },
  limits: { memory: '512Mi', ...limits },
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
