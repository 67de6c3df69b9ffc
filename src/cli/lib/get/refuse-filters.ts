import { StowageError } from '../../../api/errors.ts';

/** Flags that choose objects. */
export type Filter = 'selector' | 'node' | 'allNamespaces';

/** Throws a StowageError `usage` for flags that cannot be given together with names. */
export function refuseFilters(
  filters: readonly Filter[],
  flags: { [flag in Filter]?: unknown },
): void {
  const given = filters.find((flag) => flags[flag] !== undefined);
  if (given === undefined) return;
  throw new StowageError(
    'usage',
    filters.includes('allNamespaces')
      ? 'Names cannot be given together with --all-namespaces or --selector'
      : `Names and --${given} cannot be given together`,
  );
}
