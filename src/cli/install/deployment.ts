import { COMPONENT } from '../../api/names.ts';
import { DEPLOYMENTS } from './kinds.ts';
import { labelsOf, NAME_LABEL } from './labels.ts';
import { type Wanted, wanted } from './wanted.ts';

/** The Secret with `config` of ssh, and the keys and known hosts that it names. */
export const SSH_SECRET = 'stowage-ssh';
const SSH_FOLDER = '/etc/stowage/ssh';
/** A user without any rights, as images without a distribution have it ("nonroot"). */
const USER = 65532;
/** Port for probes and metrics. */
export const PORT = 8080;
/** The daemon takes up to 35 s to end what it does and to let go of its Lease; killed before, the next one waits for that. */
const GRACE_SECONDS = 45;

/**
 * The daemon. How many replicas there are is not said: Kubernetes makes one, and whoever scales it keeps what they set.
 * `image` as container runtimes take it.
 */
export function deploymentObject(namespace: string, image: string): Wanted {
  const selector = { [NAME_LABEL]: COMPONENT };
  return wanted(DEPLOYMENTS, 'deployment', {
    metadata: { name: COMPONENT, namespace, labels: labelsOf('deployment') },
    spec: {
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
          containers: [container(namespace, image)],
          volumes: [
            { name: 'ssh', secret: { secretName: SSH_SECRET, defaultMode: 0o440 } },
            // For the sockets of ssh.
            { name: 'tmp', emptyDir: {} },
          ],
        },
      },
    },
  });
}

const container = (namespace: string, image: string) => ({
  name: COMPONENT,
  image,
  args: [
    'watch',
    `--namespace=${namespace}`,
    '--leader-election',
    `--http-endpoint=:${PORT}`,
    `--ssh-config=${SSH_FOLDER}/config`,
  ],
  ports: [{ name: 'http', containerPort: PORT }],
  livenessProbe: { httpGet: { path: '/healthz', port: 'http' }, periodSeconds: 10, failureThreshold: 6 },
  readinessProbe: { httpGet: { path: '/readyz', port: 'http' }, periodSeconds: 5 },
  resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } },
  securityContext: {
    allowPrivilegeEscalation: false,
    privileged: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
  volumeMounts: [
    { name: 'ssh', mountPath: SSH_FOLDER, readOnly: true },
    { name: 'tmp', mountPath: '/tmp' },
  ],
});
