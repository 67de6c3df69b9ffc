import { printable } from '../../lib/output/printable.ts';
import { comment, planText } from '../../lib/plan/text.ts';
import { isWanted, type Operator, titleOfOperator } from './operator.ts';
import type { Cluster, Surveyed } from './survey.ts';

/** Returns what a take-over would do, as shell lines; `preconditions` adds checks before steps. */
export function takeOverText(
  operators: readonly Operator[],
  { standings }: Cluster,
  surveyed: readonly Surveyed[],
  preconditions: boolean,
): string {
  const line = (text: string) => `${printable(comment(text))}\n`;
  const stopped = operators
    .filter(isWanted)
    .map((each) =>
      line(`${titleOfOperator(each)} is scaled from ${each.spec?.replicas ?? 1} to 0`),
    );
  const left = standings.flatMap(({ volume, standing }) =>
    standing.is === 'left'
      ? [line(`Volume ${volume.metadata.name} is left unchanged: ${standing.why}`)]
      : [],
  );
  const adopted = surveyed.flatMap((each) =>
    'found' in each ? [adoption(each, preconditions)] : [],
  );
  return [...stopped, ...left, ...adopted].join('');

  function adoption(
    { volume, found }: Extract<Surveyed, { found: unknown }>,
    withPreconditions: boolean,
  ): string {
    const { metadata, spec } = volume;
    const notes = found.notes.map((note) => line(`  note: ${note}`)).join('');
    const heading = line(
      `Volume ${metadata.name} on node ${spec.nodeName} is adopted: ${what(found.device)}`,
    );
    return `${heading}${notes}${planText(found.steps, withPreconditions)}`;
  }
}

/** Describes a recognized device. */
export const what = (device: string | undefined): string =>
  device === undefined ? 'its file is not attached' : `/dev/${device}`;
