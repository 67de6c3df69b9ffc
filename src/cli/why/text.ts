import { age } from '../../api/age.ts';
import { asYaml } from '../lib/output/data.ts';
import { type Field, fields } from '../lib/output/fields.ts';
import { printable } from '../lib/output/printable.ts';
import type { Blocker, Diagnosis, Fix, Link, Subject } from './types.ts';

/** Returns a diagnosis as text. `now` is in ms since the epoch. */
export function explanation(subject: Subject, diagnosis: Diagnosis, now: number): string {
  if ('nothing' in diagnosis) {
    const { nothing, fix } = diagnosis;
    return `${[nothing, ...(fix === undefined ? [] : fixLines(fix))].map(printable).join('\n')}\n`;
  }
  const { cause, chain = [] } = diagnosis;
  const { kind, namespace, name, phase } = subject;
  const [holdup, ...rest] = blockerLines(diagnosis, now);
  return fields([
    [kind, `${namespace === undefined ? '' : `${namespace}/`}${name} (${phase})`],
    holdup as Field,
    ['Cause', chain.length === 0 ? cause : `${cause} (${chain.map(linkText).join(' → ')})`],
    ...rest,
  ]);
}

/** Returns the lines for blocker, begin, next attempt and fix. `now` is in ms since the epoch. */
export function blockerLines({ holdup, since, next, fix }: Blocker, now: number): Field[] {
  const lines: [string, string | string[] | undefined][] = [
    ['Blocked by', holdup],
    ['Since', since === undefined ? undefined : `${since} (${age(since, now) ?? 'unknown'} ago)`],
    ['Next try', next === undefined ? undefined : nextText(next, now)],
    ['Fix', fix === undefined ? undefined : fixLines(fix)],
  ];
  return lines.filter(([, value]) => value !== undefined) satisfies Field[];
}

export const linkText = ({ kind, namespace, name }: Link): string =>
  `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;

function nextText(next: NonNullable<Blocker['next']>, now: number): string {
  if ('when' in next) return next.when;
  const seconds = Math.ceil((Date.parse(next.at) - now) / 1000);
  return `${next.at} (in ${seconds}s)`;
}

const fixLines = ({ say, manifest, run = [] }: Fix): string[] => [
  say,
  ...indented(manifest === undefined ? [] : asYaml(manifest).trimEnd().split('\n')),
  ...indented(run),
];

const indented = (lines: string[]): string[] => lines.map((line) => `  ${line}`);
