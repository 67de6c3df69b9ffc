import { PROVISIONED } from '../../api/names.ts';
import { type Explanation, readReason } from '../../api/reasons.ts';
import type { Volume } from '../../api/volume.ts';
import { publicly } from '../../nodes/public-text.ts';

/**
 * Returns why a Volume is not as wanted. Omits commands and paths of its node,
 * which the Volume's own status has.
 */
export function failureMessage({ spec, status }: Volume): Explanation {
  const [provisioned, ready] = [PROVISIONED, 'Ready'].map((type) =>
    status?.conditions?.find((condition) => condition.type === type),
  );
  return publicly(
    { message: (provisioned ?? ready)?.message ?? '', detail: readReason(ready?.detail) },
    [spec.source?.populator?.options.source ?? ''],
  );
}
