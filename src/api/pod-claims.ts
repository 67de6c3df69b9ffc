import type { Pod } from './core.ts';

/** Returns the names of the claims that a pod names, and of those that are made for it. */
export const claimNamesOf = ({ metadata, spec }: Pod): string[] =>
  (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim != null) return [persistentVolumeClaim.claimName];
    return ephemeral == null ? [] : [`${metadata.name}-${name}`];
  });
