import { InvalidArgumentError, Option } from 'commander';
import { directoryWanted } from '../../api/directory.ts';
import { DNS_SUBDOMAIN, isDnsSubdomain } from '../../api/dns-name.ts';
import { parseDuration } from '../../api/duration.ts';
import { isLvmName, LVM_NAME } from '../../api/lvm-name.ts';
import { parseQuantity } from '../../api/quantity.ts';

/** Parsers for values on the command line. They throw commander's InvalidArgumentError, which names the option. */

/** Longer timers fire at once (Node.js, setTimeout). */
const MAX_MS = 2 ** 31 - 1;

/** A duration as Go writes it (`90s`, `1h30m`), in ms; more than 0. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined)
    throw new InvalidArgumentError('Write a duration such as 30s, 5m or 1h30m.');
  if (ms < 1 || ms > MAX_MS) throw new InvalidArgumentError('It must be from 1ms to 596h.');
  return ms;
}

/** An option of a duration with a default, which help shows as it is written here. */
export function durationOption(flags: string, description: string, standard: string): Option {
  return new Option(flags, description).argParser(duration).default(duration(standard), standard);
}

/** A duration in ms; the word given stands for what does not end, or does not come: Infinity. */
export const durationOr =
  (word: string) =>
  (text: string): number => {
    if (text === word) return Number.POSITIVE_INFINITY;
    if (parseDuration(text) !== undefined) return duration(text);
    throw new InvalidArgumentError(`Write a duration such as 30s, 5m or 1h30m, or ${word}.`);
  };

/** An absolute path in its only spelling. */
export function directory(text: string): string {
  const wanted = directoryWanted(text);
  if (wanted !== undefined) throw new InvalidArgumentError(`It must ${wanted}.`);
  return text;
}

/** The same, of an option that would silently take the last of several. */
export const oneDirectory = (text: string, before?: string): string =>
  directory(oneText(text, before));

/** The name of a volume group or a thin pool, of an option that is given once. */
export function lvmName(text: string, before?: string): string {
  if (!isLvmName(oneText(text, before))) throw new InvalidArgumentError(`It must be ${LVM_NAME}.`);
  return text;
}

/** As for kubectl, a plain number is one of seconds, and 0 is never: here the longest time there is, 24 days. */
export function requestTimeout(text: string): number {
  if (text === '0') return MAX_MS;
  return duration(/^[0-9]+$/.test(text) ? `${text}s` : text);
}

/** The name of an object that can exist. */
export function objectName(text: string): string {
  if (!isDnsSubdomain(text)) throw new InvalidArgumentError(`A name has ${DNS_SUBDOMAIN}.`);
  return text;
}

/** What `NAME` or `NAMESPACE/NAME` names. */
export interface NamespacedName {
  /** Where it is said. */
  namespace?: string;
  name: string;
}

/** The name of an object that is in a namespace, which may stand before it. */
export function namespacedName(text: string): NamespacedName {
  const [name = '', namespace, ...more] = text.split('/').toReversed();
  if (more.length > 0) throw new InvalidArgumentError('Write NAME, or NAMESPACE/NAME.');
  objectName(name);
  return namespace === undefined ? { name } : { namespace: namespaceName(namespace), name };
}

/** As `namespacedName`, of an option that would silently take the last of several. */
export function oneNamespacedName(text: string, before?: NamespacedName): NamespacedName {
  if (before !== undefined) throw new InvalidArgumentError('Give it once.');
  return namespacedName(text);
}

/** The name of a namespace that can exist. */
export function namespaceName(text: string): string {
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)) {
    throw new InvalidArgumentError(
      'A namespace has at most 63 lower-case letters, digits and hyphens, the latter not at its ends.',
    );
  }
  return text;
}

/** For an option that would silently take the last of several. */
export const oneNamespaceName = (text: string, before?: string): string =>
  namespaceName(oneText(text, before));

/** For an option that would silently take the last of several. */
export function oneObjectName(text: string, before?: string): string {
  return objectName(oneText(text, before));
}

/** As it is, of an option that would silently take the last of several. */
export function oneText(text: string, before?: string): string {
  if (before !== undefined) throw new InvalidArgumentError('Give it once.');
  return text;
}

/** `NAME/KEY`: a value of a Secret, of an option that is given once. */
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

/** For an argument that can be given several times; each name once. */
export function objectNames(text: string, before: string[] = []): string[] {
  const name = objectName(text);
  return before.includes(name) ? before : [...before, name];
}

/** `k=v,k=v`, also given several times. Keys and values are checked by the API server. */
export function labels(text: string, before: Record<string, string> = {}): Record<string, string> {
  const result = { ...before };
  for (const label of text.split(',')) {
    const [key = '', value, ...more] = label.split('=');
    if (key === '' || value === undefined || more.length > 0) {
      throw new InvalidArgumentError('Write labels as key=value, with commas between.');
    }
    result[key] = value;
  }
  return result;
}

/** A size as Kubernetes writes it, more than 0, of an option that is given once. */
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

/** A whole number within bounds. */
export const wholeNumber =
  (min: number, max: number) =>
  (text: string): number => {
    const number = Number(text);
    if (!/^[0-9]+$/.test(text) || number < min || number > max) {
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    }
    return number;
  };

/** As flags of Kubernetes are written: `--flag`, `--flag=true`, `--flag=false`. */
export function onOrOff(text: string): boolean {
  if (text !== 'true' && text !== 'false')
    throw new InvalidArgumentError('It must be true or false.');
  return text === 'true';
}
