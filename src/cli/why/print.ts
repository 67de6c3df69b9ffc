import type { Io } from '../lib/io.ts';
import { asJson, asYaml } from '../lib/output/data.ts';
import { needsJudgement } from './needs-judgement.ts';
import { explanation } from './text.ts';
import type { Blocker, Diagnosis, Fix, Link, Subject, WhyFlags } from './types.ts';

interface Found {
  subject: Subject;
  diagnosis: Diagnosis;
}

/**
 * Prints diagnoses as text, or as data that docs/output.md describes.
 * @param asList whether data is a list with `items`
 */
export function print(
  found: readonly Found[],
  asList: boolean,
  { output }: WhyFlags,
  io: Io,
): void {
  if (output === undefined) {
    const texts = found.map((each) =>
      explanation(each.subject, each.diagnosis, io.clock.timeOfDay()),
    );
    io.stdout.write(texts.join('\n'));
    return;
  }
  const items = found.map(({ subject, diagnosis }) => data(subject, diagnosis));
  const [first] = items;
  if (first === undefined) return;
  io.stdout.write((output === 'json' ? asJson : asYaml)(asList ? { items } : first));
}

/**
 * Returns a diagnosis as data. `nextTry`, `fix.yaml` and `fix.command`, if set, are `next`,
 * `fix.manifest` and `fix.run` as single strings, for shells. Pure.
 */
function data(subject: Subject, diagnosis: Diagnosis): object {
  const { kind, name, namespace } = subject;
  const object: Link = { kind, ...(namespace === undefined ? {} : { namespace }), name };
  if ('nothing' in diagnosis) {
    const { nothing, fix } = diagnosis;
    return { ...subject, object, nothing, ...(fix && { fix: withText(fix) }), chain: [object] };
  }
  return {
    ...subject,
    object,
    ...blockerData(diagnosis),
    chain: [object, ...(diagnosis.chain ?? [])],
  };
}

/** Returns a blocker as data, without its chain. Pure. */
export const blockerData = ({ cause, reason, holdup, since, next, fix }: Blocker): object => ({
  cause,
  ...(reason === undefined ? {} : { reason }),
  holdup,
  ...(since === undefined ? {} : { since }),
  ...(next === undefined ? {} : { next, nextTry: 'at' in next ? next.at : next.when }),
  ...(fix === undefined ? {} : { fix: withText(fix) }),
});

function withText(fix: Fix): object {
  const { manifest, run = [] } = fix;
  return {
    ...fix,
    ...(manifest === undefined ? {} : { yaml: asYaml(manifest) }),
    ...(run.length === 0 || needsJudgement(run) ? {} : { command: run.join(' &&\n') }),
  };
}
