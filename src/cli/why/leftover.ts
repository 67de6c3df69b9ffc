import type { KubeNode } from '../../api/core.ts';
import type { Leftover } from '../../api/leftover.ts';
import { LEFTOVERS } from '../../api/resources.ts';
import { commandLine } from '../lib/command-line.ts';
import type { Reading } from '../lib/read-result.ts';
import { obstructionOf } from './obstruction.ts';
import { sinceOf } from './state.ts';
import type { Blocker, Explained } from './types.ts';

/**
 * Explains a Leftover, which exists until the node of its Volume is back, and which an uninstall
 * waits for. Pure.
 */
export function explainLeftover(leftover: Leftover, node: Reading<KubeNode>): Explained {
  const { metadata, spec, status } = leftover;
  const { nodeName, volumeName } = spec;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const { creationTimestamp: since } = metadata;
  const found = obstructionOf(ready?.detail, { node: nodeName });
  const absent = 'absent' in node;
  const lost = `what Volume ${volumeName} left on node ${nodeName} is not removed yet`;
  const diagnosis: Blocker = {
    cause: found?.cause ?? (absent ? 'NodeMissing' : 'RemovalRunning'),
    reason: found?.reason,
    chain: [{ kind: 'Node', name: nodeName }],
    holdup: `${lost}${absent ? ', and that node is not in this cluster' : ''}${ready?.message ? `: ${ready.message}` : ''}`,
    ...(ready === undefined ? since && { since } : sinceOf(ready)),
    next: { when: 'when the node answers' },
    fix: {
      say: 'Bring the node back. If it never comes back, delete the Leftover: nothing is removed there then.',
      run: [commandLine('kubectl', 'delete', 'leftover', metadata.name)],
    },
  };
  return {
    subject: { kind: LEFTOVERS.kind, name: metadata.name, phase: status?.phase ?? 'Pending' },
    diagnosis,
    readings: [{ node }],
    node: nodeName,
  };
}
