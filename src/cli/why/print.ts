import type { Io } from '../lib/io.ts';
import { asJson, asYaml } from '../lib/output/data.ts';
import { isByHand } from './needs-judgement.ts';
import { explanation } from './text.ts';
import type { Diagnosis, Fix, Link, Subject, WhyFlags } from './types.ts';

/** As text, or as the data of docs/output.md. */
export function print(subject: Subject, diagnosis: Diagnosis, { output }: WhyFlags, io: Io): void {
  if (output === 'json') io.stdout.write(asJson(data(subject, diagnosis)));
  else if (output === 'yaml') io.stdout.write(asYaml(data(subject, diagnosis)));
  else io.stdout.write(explanation(subject, diagnosis, io.clock.now()));
}

/** `nextTry`, `fix.yaml` and `fix.command`, where there is one, are `next`, `fix.manifest` and `fix.run` as one string each, for shells. Pure. */
function data(subject: Subject, diagnosis: Diagnosis): object {
  const { kind, name, namespace } = subject;
  const object: Link = { kind, ...(namespace === undefined ? {} : { namespace }), name };
  if ('nothing' in diagnosis) return { ...subject, object, ...diagnosis, chain: [object] };
  const { cause, holdup, since, next, fix, chain = [] } = diagnosis;
  return {
    ...subject,
    object,
    cause,
    holdup,
    ...(since === undefined ? {} : { since }),
    ...(next === undefined ? {} : { next, nextTry: 'at' in next ? next.at : next.when }),
    ...(fix === undefined ? {} : { fix: withText(fix) }),
    chain: [object, ...chain],
  };
}

function withText(fix: Fix): object {
  const { manifest, run = [] } = fix;
  return {
    ...fix,
    ...(manifest === undefined ? {} : { yaml: asYaml(manifest) }),
    ...(run.length === 0 || isByHand(run) ? {} : { command: run.join(' &&\n') }),
  };
}
