import { DNS_SUBDOMAIN, isDnsSubdomain } from '../../api/dns-name.ts';
import type { Volume } from '../../api/volume.ts';
import { validateVolume } from '../../model/validate-volume.ts';

/** Returns why a Volume may not be created, in one sentence; undefined if it may. */
export function volumeProblem(volume: Volume): string | undefined {
  const { name } = volume.metadata;
  const problems = [
    ...(isDnsSubdomain(name) ? [] : [`a name has ${DNS_SUBDOMAIN}`]),
    ...validateVolume(volume),
  ];
  return problems.length === 0 ? undefined : `Volume ${name}: ${problems.join('; ')}`;
}
