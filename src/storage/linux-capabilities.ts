import type { Probe } from '../nodes/job.ts';

export const capabilitiesProbe: Probe = {
  name: 'capabilities',
  argv: ['cat', '/proc/self/status'],
};

/** linux/capability.h */
const CAP_SYS_RESOURCE = 24n;

/**
 * Reports whether root may grow a mounted ext4: the kernel requires CAP_SYS_RESOURCE
 * (fs/ext4/resize.c, ext4_resize_begin), which root of a container may lack. `status` is that of
 * one of its processes, proc(5).
 */
export function growsMounted(status: string): boolean {
  const [, mask] = /^CapEff:\s*([0-9a-f]+)$/m.exec(status) ?? [];
  return mask === undefined || ((BigInt(`0x${mask}`) >> CAP_SYS_RESOURCE) & 1n) === 1n;
}
