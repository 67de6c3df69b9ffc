import { DNS_SUBDOMAIN, isDnsSubdomain } from '../../api/dns-name.ts';
import { StowageError } from '../../api/errors.ts';
import type { Io } from '../io.ts';
import { isInteractive } from '../prompts/prompts.ts';

/** Whether something is missing that somebody can be asked for. Throws a StowageError `usage` that names it where nobody can be. */
export function toAsk(lacking: readonly string[], io: Io, hint?: string): boolean {
  if (lacking.length === 0) return false;
  if (isInteractive(io)) return true;
  throw new StowageError(
    'usage',
    `missing: ${lacking.join(', ')}`,
    hint === undefined ? {} : { hint },
  );
}

/** Of those that are given, none is missing: the names of the others. */
export const lackingOf = (given: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(given).flatMap(([name, value]) => (value === undefined ? [name] : []));

export const nameProblem = (answer: string): string | undefined =>
  isDnsSubdomain(answer) ? undefined : `A name has ${DNS_SUBDOMAIN}`;

/** An answer that may be empty, for what there is without one. */
export const orNone =
  (problem: (answer: string) => string | undefined) =>
  (answer: string): string | undefined =>
    answer === '' ? undefined : problem(answer);

/** What a parser of the command line says of an answer. */
export const problemBy =
  (parse: (text: string) => unknown) =>
  (answer: string): string | undefined => {
    try {
      parse(answer);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };
