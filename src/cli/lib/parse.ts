import { InvalidArgumentError, Option } from 'commander';
import { directoryWanted } from '../../api/directory.ts';
import { DNS_SUBDOMAIN, isDnsSubdomain } from '../../api/dns-name.ts';
import { parseDuration } from '../../api/duration.ts';
import { isLvmName, LVM_NAME } from '../../api/lvm-name.ts';
import { parseQuantity } from '../../api/quantity.ts';

/** Parsers of values. Each throws commander's InvalidArgumentError, which names the option. */

/** Longer timers fire at once (Node.js, setTimeout). */
const MAX_MS = 2 ** 31 - 1;

/** Parses a duration as Go writes it (`90s`, `1h30m`) into ms; more than 0. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined)
    throw new InvalidArgumentError('Write a duration such as 30s, 5m or 1h30m.');
  if (ms < 1 || ms > MAX_MS) throw new InvalidArgumentError('It must be from 1ms to 596h.');
  return ms;
}

/** Returns an option for a duration with a default, which help shows as in `standard`. */
export function durationOption(flags: string, description: string, standard: string): Option {
  return new Option(flags, description).argParser(duration).default(duration(standard), standard);
}

/** Returns a parser of a duration into ms. The given text stands for Infinity. */
export const durationOr =
  (word: string) =>
  (text: string): number => {
    if (text === word) return Number.POSITIVE_INFINITY;
    if (parseDuration(text) !== undefined) return duration(text);
    throw new InvalidArgumentError(`Write a duration such as 30s, 5m or 1h30m, or ${word}.`);
  };

/** Parses an absolute path in its only spelling. */
export function directory(text: string): string {
  const wanted = directoryWanted(text);
  if (wanted !== undefined) throw new InvalidArgumentError(`It must ${wanted}.`);
  return text;
}

export const oneDirectory = (text: string, before?: string): string =>
  directory(oneText(text, before));

/** Parses the name of a volume group or a thin pool, for an option that is given once. */
export function lvmName(text: string, before?: string): string {
  if (!isLvmName(oneText(text, before))) throw new InvalidArgumentError(`It must be ${LVM_NAME}.`);
  return text;
}

/**
 * Parses a timeout as kubectl does: a plain number is in seconds. For no limit, 0, it returns the
 * longest timer, 24 days.
 */
export function requestTimeout(text: string): number {
  if (text === '0') return MAX_MS;
  return duration(/^[0-9]+$/.test(text) ? `${text}s` : text);
}

export function objectName(text: string): string {
  if (!isDnsSubdomain(text)) throw new InvalidArgumentError(`A name has ${DNS_SUBDOMAIN}.`);
  return text;
}

/** Parsed `NAME` or `NAMESPACE/NAME`. */
export interface NamespacedName {
  /** Unset unless given. */
  namespace?: string;
  name: string;
}

/** Parses the name of a namespaced object, after an optional namespace. */
export function namespacedName(text: string): NamespacedName {
  const [name = '', namespace, ...more] = text.split('/').toReversed();
  if (more.length > 0) throw new InvalidArgumentError('Write NAME, or NAMESPACE/NAME.');
  objectName(name);
  return namespace === undefined ? { name } : { namespace: namespaceName(namespace), name };
}

export function oneNamespacedName(text: string, before?: NamespacedName): NamespacedName {
  if (before !== undefined) throw new InvalidArgumentError('Give it once.');
  return namespacedName(text);
}

export function namespaceName(text: string): string {
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)) {
    throw new InvalidArgumentError(
      'A namespace has at most 63 lower-case letters, digits and hyphens, without a hyphen at its ends.',
    );
  }
  return text;
}

export const oneNamespaceName = (text: string, before?: string): string =>
  namespaceName(oneText(text, before));

export function oneObjectName(text: string, before?: string): string {
  return objectName(oneText(text, before));
}

/** Returns the text. Throws if the option was given before: commander would take the last one. */
export function oneText(text: string, before?: string): string {
  if (before !== undefined) throw new InvalidArgumentError('Give it once.');
  return text;
}

/** Parses `NAME/KEY`, a value of a Secret, for an option that is given once. */
export function oneSecretKey(
  text: string,
  before?: { name: string; key: string },
): { name: string; key: string } {
  if (before !== undefined) throw new InvalidArgumentError('Give it once.');
  const [name = '', key = '', ...more] = text.split('/');
  if (more.length > 0 || !/^[-._a-zA-Z0-9]+$/.test(key))
    throw new InvalidArgumentError('Write SECRET/KEY.');
  return { name: objectName(name), key };
}

/** Parses a name of an argument that can be given several times; keeps each name once. */
export function objectNames(text: string, before: string[] = []): string[] {
  const name = objectName(text);
  return before.includes(name) ? before : [...before, name];
}

/** Does the same for names of namespaced objects. */
export function namespacedNames(text: string, before: NamespacedName[] = []): NamespacedName[] {
  const { namespace, name } = namespacedName(text);
  const isKnown = before.some((each) => each.namespace === namespace && each.name === name);
  return isKnown ? before : [...before, namespacedName(text)];
}

/** Parses `k=v,k=v`, also given several times. The API server checks keys and values. */
export function labels(text: string, before: Record<string, string> = {}): Record<string, string> {
  const result = { ...before };
  for (const label of text.split(',')) {
    const [key = '', value, ...more] = label.split('=');
    if (key === '' || value === undefined || more.length > 0) {
      throw new InvalidArgumentError('Write labels as key=value, separated by commas.');
    }
    result[key] = value;
  }
  return result;
}

/** Parses a size as Kubernetes writes it, more than 0, for an option that is given once. */
export function quantity(text: string, before?: string): string {
  let bytes = 0n;
  try {
    bytes = parseQuantity(oneText(text, before));
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw error;
  }
  if (bytes <= 0n) throw new InvalidArgumentError('Write a size such as 10Gi, 500M or 1.5Ti.');
  return text;
}

export const wholeNumber =
  (min: number, max: number) =>
  (text: string): number => {
    const number = Number(text);
    if (!/^[0-9]+$/.test(text) || number < min || number > max) {
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    }
    return number;
  };

/** Parses a boolean as in flags of Kubernetes: `--flag`, `--flag=true`, `--flag=false`. */
export function onOrOff(text: string): boolean {
  if (text !== 'true' && text !== 'false')
    throw new InvalidArgumentError('It must be true or false.');
  return text === 'true';
}
