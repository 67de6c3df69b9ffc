import { COMPONENT, METRICS_LABEL } from '../../api/names.ts';
import { NETWORK_POLICIES } from '../../api/resources.ts';
import { labelsOf, NAME_LABEL } from '../lib/objects/installed-labels.ts';
import { PORT } from './deployment.ts';
import { type Wanted, wanted } from './wanted.ts';

/**
 * Returns the policy for the daemon's port, which has no login. Admits pods of its namespace,
 * and of namespaces that an administrator labels. Probes of the kubelet come from the node, which
 * no policy blocks. Egress is not limited: nodes, salt-api and the API server are outside the
 * cluster's network.
 */
export const networkPolicyObject = (namespace: string): Wanted =>
  wanted(NETWORK_POLICIES, 'deployment', {
    metadata: { name: COMPONENT, namespace, labels: labelsOf('deployment') },
    spec: {
      podSelector: { matchLabels: { [NAME_LABEL]: COMPONENT } },
      policyTypes: ['Ingress'],
      ingress: [
        {
          from: [
            { podSelector: {} },
            { namespaceSelector: { matchLabels: { [METRICS_LABEL]: 'allowed' } } },
          ],
          ports: [{ port: PORT, protocol: 'TCP' }],
        },
      ],
    },
  });
