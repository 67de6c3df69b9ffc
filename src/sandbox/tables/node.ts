import type { Column } from '../kind.ts';
import { AGE, type Loose, orNone, text, wide } from './cells.ts';

const ROLE_PREFIX = 'node-role.kubernetes.io/';
const ROLE_LABEL = 'kubernetes.io/role';

function statusOf({ spec, status }: Loose): string {
  const ready = status?.conditions?.find(({ type }: Loose) => type === 'Ready');
  const text = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return spec?.unschedulable ? `${text},SchedulingDisabled` : text;
}

function rolesOf({ metadata }: Loose): string {
  const roles = Object.entries(metadata.labels ?? {}).flatMap(([label, value]) =>
    label.startsWith(ROLE_PREFIX) && label !== ROLE_PREFIX
      ? [label.slice(ROLE_PREFIX.length)]
      : label === ROLE_LABEL && value !== ''
        ? [String(value)]
        : [],
  );
  return [...new Set(roles)].sort().join(',');
}

const address = (type: string) => (object: Loose) =>
  orNone(object.status?.addresses?.find((one: Loose) => one.type === type)?.address);
const info = (field: string) => (object: Loose) => object.status?.nodeInfo?.[field] || '<unknown>';

export const NODE_COLUMNS: Column[] = [
  text('Status', statusOf),
  text('Roles', (object) => orNone(rolesOf(object))),
  AGE,
  text('Version', ({ status }) => status?.nodeInfo?.kubeletVersion ?? ''),
  wide(text('Internal-IP', address('InternalIP'))),
  wide(text('External-IP', address('ExternalIP'))),
  wide(text('OS-Image', info('osImage'))),
  wide(text('Kernel-Version', info('kernelVersion'))),
  wide(text('Container-Runtime', info('containerRuntimeVersion'))),
];
