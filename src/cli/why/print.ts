import type { Io } from '../lib/io.ts';
import { asJson, asYaml } from '../lib/output/data.ts';
import { isByHand } from './needs-judgement.ts';
import { explanation } from './text.ts';
import type { Blocker, Diagnosis, Fix, Link, Subject, WhyFlags } from './types.ts';

/** Prints a diagnosis as text, or as data that docs/output.md describes. */
export function print(subject: Subject, diagnosis: Diagnosis, { output }: WhyFlags, io: Io): void {
  if (output === 'json') io.stdout.write(asJson(data(subject, diagnosis)));
  else if (output === 'yaml') io.stdout.write(asYaml(data(subject, diagnosis)));
  else io.stdout.write(explanation(subject, diagnosis, io.clock.now()));
}

/**
 * Returns a diagnosis as data. `nextTry`, `fix.yaml` and `fix.command`, if set, are `next`,
 * `fix.manifest` and `fix.run` as single strings, for shells. Pure.
 */
function data(subject: Subject, diagnosis: Diagnosis): object {
  const { kind, name, namespace } = subject;
  const object: Link = { kind, ...(namespace === undefined ? {} : { namespace }), name };
  if ('nothing' in diagnosis) return { ...subject, object, ...diagnosis, chain: [object] };
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
    ...(run.length === 0 || isByHand(run) ? {} : { command: run.join(' &&\n') }),
  };
}
