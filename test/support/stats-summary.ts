/** Stand-in for kubelets' summaries, as the API server proxies them. */

/** Path of a node's summary at the API server. */
export const summaryPath = (node: string): string => `/api/v1/nodes/${node}/proxy/stats/summary`;

/** Returns a summary of pods with one mounted claim each. */
export const summaryOf = (...pods: object[]): object => ({ node: {}, pods });

/**
 * Returns a pod's part of a summary, as a kubelet of 1.36 writes it. `figures` replace those of a
 * file system of 1000 bytes, of which 250 are used.
 */
export const podStats = (
  uid: string,
  claim: { namespace: string; name: string },
  figures: object = {},
): object => ({
  podRef: { name: 'db-0', namespace: claim.namespace, uid },
  startTime: '2029-12-31T20:00:00Z',
  containers: [],
  volume: [
    { name: 'kube-api-access', usedBytes: 12288, capacityBytes: 4096000, time: MEASURED },
    {
      ...{ name: 'data', pvcRef: claim, time: MEASURED },
      ...{ availableBytes: 700, capacityBytes: 1000, usedBytes: 250 },
      ...{ inodesFree: 90, inodes: 100, inodesUsed: 10 },
      ...figures,
    },
  ],
});

export const MEASURED = '2029-12-31T23:59:30Z';
