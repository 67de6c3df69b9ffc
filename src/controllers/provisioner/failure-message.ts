import { PROVISIONED } from '../../api/names.ts';
import type { Volume } from '../../api/volume.ts';
import { withoutPaths } from '../../nodes/public-text.ts';

/** Returns why a Volume is not as wanted, without commands and paths of its node: those are in the Volume's own status. */
export function failureMessage({ spec, status }: Volume): string {
  const [told, ready] = [PROVISIONED, 'Ready'].map((type) =>
    status?.conditions?.find((condition) => condition.type === type),
  );
  return withoutPaths((told ?? ready)?.message ?? '', [
    spec.source?.populator?.options.source ?? '',
  ]);
}
