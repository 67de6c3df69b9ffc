import { PROVISIONED } from '../../api/names.ts';
import type { Explanation, Reason } from '../../api/reasons.ts';
import type { Volume } from '../../api/volume.ts';
import { withoutPaths } from '../../nodes/public-text.ts';

/** Returns why a Volume is not as wanted, without commands and paths of its node: those are in the Volume's own status. */
export function failureMessage({ spec, status }: Volume): Explanation {
  const [told, ready] = [PROVISIONED, 'Ready'].map((type) =>
    status?.conditions?.find((condition) => condition.type === type),
  );
  return publicly({ message: (told ?? ready)?.message ?? '', detail: ready?.detail }, [
    spec.source?.populator?.options.source ?? '',
  ]);
}

/** An explanation for people who may not administer the node. `known`: paths that they named themselves. */
export function publicly<T extends Explanation>(told: T, known: readonly string[] = []): T {
  const message = withoutPaths(told.message, known);
  return { ...told, message, ...(told.detail && { detail: withoutPathsIn(told.detail, known) }) };
}

function withoutPathsIn({ code, parameters }: Reason, known: readonly string[]): Reason {
  const told = Object.entries(parameters).map(([name, text]) => [name, withoutPaths(text, known)]);
  return { code, parameters: Object.fromEntries(told) };
}
