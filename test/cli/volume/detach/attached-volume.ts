import type { Attachment, Volume, VolumeSpec } from '../../../../src/api/volume.ts';
import { ago, attachmentOn, nodeNamed } from '../../../support/cluster-objects.ts';
import { volumeNamed } from '../../../support/volumes.ts';

/**
 * Volume a with attachments, the Node n1, and the command that detaches the Volume from the node.
 */

export const DETACH = ['detach', 'volume', 'a', '--node', 'n1'];
export const TAINT = 'node.kubernetes.io/out-of-service';

export const entry = ({ node = 'n1', ...more }: Partial<Attachment> = {}) =>
  attachmentOn(node, more);
export function volume(
  attachments: Attachment[],
  spec: Partial<VolumeSpec> = {},
  resourceVersion = '1',
): Volume {
  const base = volumeNamed('a', { phase: 'Available', attachments });
  return {
    ...base,
    metadata: { ...base.metadata, resourceVersion },
    spec: { ...base.spec, attachPolicy: 'OnDemand', ...spec },
  };
}
export const node = (ready: string | undefined, seconds: number | undefined, tainted = false) =>
  nodeNamed('n1', {
    ...(ready && { ready }),
    since: seconds === undefined ? undefined : ago(seconds),
    taints: tainted ? [TAINT] : [],
  });
export const writes = (requests: { what: string }[]) =>
  requests.map(({ what }) => what).filter((what) => /^(patch|delete|create)/.test(what));
